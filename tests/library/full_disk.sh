#!/bin/sh
# A full disk is an error that names the file; there is no index, nothing half written, and with more room the same command goes on.
#   full_disk.sh FMHAGEN
set -eu
fmhagen=$(realpath "$1")
if [ "${2:-}" != inside ]; then
    if unshare -m true 2>/dev/null; then exec unshare -m "$(realpath "$0")" "$fmhagen" inside
    elif unshare -rm true 2>/dev/null; then exec unshare -rm "$(realpath "$0")" "$fmhagen" inside
    else echo "skipped: no file system can be mounted here"; exit 77
    fi
fi
folder=$(mktemp -d)
mkdir "$folder/disk"
mount -t tmpfs -o size=96k none "$folder/disk" 2>/dev/null || { rm -r "$folder"; echo "skipped: no tmpfs can be mounted here"; exit 77; }
trap 'cd /; umount "$folder/disk"; rm -rf "$folder"' EXIT
cd "$folder/disk"
fail() { echo "$*" >&2; exit 1; }
library() { "$fmhagen" library lib --arch gfx1151 --hd 64 --causal=none,bottom-right -j 1; }

# Room for both texts and one code object.
status=0
library >../out 2>../err || status=$?
[ $status -eq 1 ] || fail "expected exit status 1 on a full disk, got $status"
grep -q '^fmhagen: lib/gfx1151/fmha.*: expected a writable file, got: No space left on device$' ../err || { cat ../err >&2; fail "expected the message to name a file and the reason"; }
[ -z "$(find lib -name '*.tmp')" ] || fail "expected nothing half written: $(find lib -name '*.tmp')"
if [ -e lib/gfx1151/fmha.index ]; then
    sed -n 's/^object \([0-9]*\) [0-9a-f]* /\1 /p' lib/gfx1151/fmha.index | while read -r size name; do
        [ "$(stat -c %s "lib/gfx1151/$name")" -eq "$size" ] || fail "expected an index of what is there, got one with $name"
    done
fi
mount -o remount,size=1m "$folder/disk"
library >../out 2>../err || { cat ../err >&2; fail "expected it to go on with more room"; }
echo "a full disk is told of, and more room is enough"
