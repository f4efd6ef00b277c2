#!/bin/sh
# The emitted kernels that are checked in are what their commands write today.
#   generated.sh FMHAGEN SOURCE_ROOT
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2/generated/remake" "$1" "$folder"
count=0
for file in "$2"/generated/*.hip; do
    if ! diff -u "$file" "$folder/$(basename "$file")"; then
        echo "$(basename "$file"): not what its command writes; after a wanted change run generated/remake and commit" >&2
        exit 1
    fi
    count=$((count + 1))
done
[ "$count" -eq 7 ] || { echo "expected 7 emitted kernels in generated/, got $count" >&2; exit 1; }
