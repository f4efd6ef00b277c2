#!/bin/sh
# What a second run compiles: exactly what changed.
#   resume.sh FMHAGEN SOURCE
set -eu
fmhagen=$(realpath "$1") source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir "a folder"
cd "a folder"

# expect WHAT TEXT: the library, made again, says TEXT.
library() { "$fmhagen" library "my lib" --arch gfx1151 --hd 64 --dtype f16,bf16 --causal=none,bottom-right -j 2 --template-dir templates; }
expect() {
    got=$(library)
    [ "$got" = "my lib/gfx1151: 4 instances: $2" ] || { echo "$1: expected $2, got $got" >&2; exit 1; }
}
one() { ls "my lib"/gfx1151/*_bf16_d64_causal_*"$1"; }
modified() { stat -c '%y %i %n' "my lib"/gfx1151/* "my lib/build.ninja"; }

cp -r "$source/templates" templates
expect "nothing there" "4 compiled, 0 as before"
before=$(modified)
expect "nothing changed" "0 compiled, 4 as before"
[ "$(modified)" = "$before" ] || { echo "nothing changed: expected no file to be written" >&2; exit 1; }

# A template of one dtype alone.
echo "/* changed */" >> templates/device/element_bf16.hip
expect "bf16's template changed" "2 compiled, 2 as before"
expect "and then it is the same" "0 compiled, 4 as before"

# A code object that is cut, changed, or gone.
truncate -s -1 "$(one hsaco)"
expect "a cut code object" "1 compiled, 3 as before"
printf X | dd of="$(one hsaco)" bs=1 seek=200 conv=notrunc 2>/dev/null
expect "a changed code object" "1 compiled, 3 as before"
rm "$(one hsaco)"
expect "a code object that is gone" "1 compiled, 3 as before"

# What NAME.json tells of how it was made.
sed -i 's/"compiler":.*"/"compiler": "another"/' "$(one json)"
expect "another compiler" "1 compiled, 3 as before"
sed -i 's/"-O3"/"-O2"/' "$(one json)"
expect "other flags" "1 compiled, 3 as before"
printf '{' > "$(one json)" # torn: not fmhagen's as far as anybody can tell
if library 2>/dev/null; then echo "a torn NAME.json: expected it to be refused" >&2; exit 1; fi
rm "$(one json)" "$(one hsaco)"
expect "an interface that is gone" "1 compiled, 3 as before"

# A text that is gone is written again and compiles nothing.
rm "$(one hip)"
expect "a text that is gone" "0 compiled, 4 as before"
[ -f "$(one hip)" ]

# More and fewer instances: what stays is not compiled.
"$fmhagen" library "my lib" --arch gfx1151 --hd 64 --dtype bf16 --causal=none,bottom-right --template-dir templates | grep -q '2 instances: 0 compiled, 2 as before'
[ "$(find "my lib" -name '*_f16_*' | wc -l)" -eq 0 ] || { echo "expected f16 to be gone" >&2; exit 1; }
expect "f16 again" "2 compiled, 2 as before"
echo "what a second run compiles is what changed"
