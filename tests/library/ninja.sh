#!/bin/sh
# What ninja makes of build.ninja has the same bytes as what fmhagen makes by itself; a second ninja has nothing to do; a changed template
# reaches ninja through fmhagen library --no-compile.
#   ninja.sh FMHAGEN SOURCE
set -eu
fmhagen=$(realpath "$1") source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir "a folder"
cd "a folder"
cp -r "$source/templates" "its templates"
library() {
    lib=$1
    shift
    "$fmhagen" library "$lib" --arch gfx1100,gfx1151 --hd 64 --wave 32,64 --template-dir "its templates" "$@" >/dev/null
}
fail() { echo "$*" >&2; exit 1; }

library "by fmhagen"
library "by ninja" --no-compile
[ "$(find "by ninja" -name '*.hsaco' | wc -l)" -eq 0 ] || fail "--no-compile: expected no code object"
grep -q '^object' "by ninja"/*/fmha.index && fail "--no-compile: expected an index of texts"
ninja -C "by ninja" >/dev/null
[ "$(find "by ninja" -name '*.hsaco' | wc -l)" -eq 4 ] || fail "expected 4 code objects"
rm -f "by ninja/.ninja_log"
diff -r -x .ninja_log -x .ninja_deps "by fmhagen" "by ninja" || fail "expected the same bytes from both"

# The log is gone, so ninja does it all once more; the index, written again with the same bytes, must not keep it busy.
ninja -C "by ninja" >/dev/null
ninja -C "by ninja" | grep -q 'no work to do' || fail "a second ninja: expected no work to do"
diff -r -x .ninja_log -x .ninja_deps "by fmhagen" "by ninja"

# What ninja compiled is fmhagen's own.
"$fmhagen" library "by ninja" --arch gfx1100,gfx1151 --hd 64 --wave 32,64 --template-dir "its templates" |
    grep -c '0 compiled, 2 as before' | grep -qx 2 || fail "expected fmhagen to compile nothing after ninja"

# The index alone is not made of another text or of a code object that spills.
echo '/* changed */' >> "its templates/device/element_f16.hip"
touch "by ninja"/gfx1151/*.hip
if ninja -C "by ninja" >out 2>&1; then fail "expected ninja to fail over texts that are not those of the templates"; fi
grep -q 'expected the text that this fmhagen makes, got another' out || { cat out >&2; fail "expected to be told why"; }
library "by ninja" --no-compile
ninja -C "by ninja" >/dev/null
library "by fmhagen"
diff -r -x .ninja_log -x .ninja_deps "by fmhagen" "by ninja"
echo "ninja and fmhagen make the same"
