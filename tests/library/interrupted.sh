#!/bin/sh
# SIGINT in the middle: no index that names what is not there, nothing left behind in $TMPDIR, and the same command goes on. What an index
# named before and still is as it was stays named.
#   interrupted.sh FMHAGEN
set -eu
fmhagen=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir tmp
TMPDIR=$folder/tmp
export TMPDIR
fail() { echo "$*" >&2; exit 1; }

# A compiler that is the real one, but stops at the second kernel that it is given until it is killed.
"$fmhagen" library seen --arch gfx1151 --hd 64 --no-compile >/dev/null
real=$(sed -n 's/^cxx = //p' seen/build.ninja)
cat > hipcc <<EOF
#!/bin/sh
case " \$* " in
    *fmha_forward*)
        echo >> "$folder/calls"
        [ "\$(wc -l < "$folder/calls")" -ne 2 ] || { touch "$folder/waiting"; sleep 60; } ;;
esac
exec "$real" "\$@"
EOF
chmod +x hipcc
library() { FMHA_HIPCC=$folder/hipcc "$fmhagen" library lib --arch gfx1151 --hd "$1" --causal=none,bottom-right -j 1; }
interrupt() {
    rm -f calls waiting
    env --default-signal=INT FMHA_HIPCC="$folder/hipcc" "$fmhagen" library lib --arch gfx1151 --hd "$1" --causal=none,bottom-right -j 1 >out 2>err &
    child=$!
    for _ in $(seq 600); do [ -e waiting ] && break; sleep 0.1; done
    [ -e waiting ] || fail "expected it to compile a second kernel"
    kill -INT $child
    status=0
    wait $child || status=$?
    [ $status -eq 1 ] || { cat err >&2; fail "expected exit status 1 after an interrupt, got $status"; }
    [ -z "$(ls tmp)" ] || fail "left in TMPDIR: $(ls tmp)"
    find lib -name '*.tmp' | grep . && fail "left in the library" || true
}

interrupt 64
[ "$(cat err)" = "fmhagen: library: interrupted; 1 of 2 instances were not compiled and no index was written; the same command goes on from here" ] ||
    fail "got: $(cat err)"
[ ! -e lib/gfx1151/fmha.index ] || fail "expected no index after an interrupted first run"
rm -f calls
echo >> calls; echo >> calls # past the one that waits
library 64 | grep -q '2 instances: 1 compiled, 1 as before' || fail "expected it to go on"

# More instances, interrupted: the old index names the old ones, all of which are still right.
cp lib/gfx1151/fmha.index old
interrupt 64,128
cmp old lib/gfx1151/fmha.index || fail "expected the old index to stay"
"$fmhagen" library lib --arch gfx1151 --hd 64 --causal=none,bottom-right --index-only >/dev/null || fail "expected the old index to hold"

# An instance of the index that has to be compiled again: the index goes first.
echo >> calls
for object in lib/gfx1151/*_d64_*.hsaco; do printf X | dd of="$object" bs=1 seek=200 conv=notrunc 2>/dev/null; done
interrupt 64
[ ! -e lib/gfx1151/fmha.index ] || fail "expected no index while what it named is being compiled"
library 64 | grep -q '2 instances: 1 compiled, 1 as before' || fail "expected it to go on"
echo "an interrupt leaves the old index or none, and the same command goes on"
