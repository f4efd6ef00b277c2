#!/bin/sh
# Each preset can be emitted for each chip: as many instances as is documented, all distinct.
#   presets.sh FMHAGEN           every preset on every chip, as text
#   presets.sh FMHAGEN compile   llm-inference compiled for every chip and all for gfx1151, none of which may spill
set -eu
fmhagen=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chips=gfx1100,gfx1101,gfx1102,gfx1103,gfx1150,gfx1151,gfx1152,gfx1153,gfx1200,gfx1201

# count PRESET WANTED: instances of each chip, as the index has them; their names without the chip are the same everywhere.
count() {
    for chip in $(echo "$2" | tr , ' '); do
        found=$(sed -n 's/^instance //p' "lib/$chip/fmha.index" | sort -u | wc -l)
        [ "$found" -eq "$3" ] || { echo "$1 on $chip: expected $3 instances, got $found" >&2; exit 1; }
        distinct=$(sed -n 's/^target //p' "lib/$chip/fmha.index" | sort -u)
        [ "$distinct" = "$chip" ] || { echo "$1: expected instances for $chip, got $distinct" >&2; exit 1; }
    done
    echo "$1: $3 instances on each of $2"
}
if [ "${2:-}" = compile ]; then
    "$fmhagen" library lib --arch $chips --preset llm-inference
    count llm-inference $chips 310
    "$fmhagen" library lib --arch gfx1151 --preset all
    count all gfx1151 772
    exit 0
fi
"$fmhagen" library lib --arch $chips --preset minimal --no-compile >/dev/null
count minimal $chips 8
"$fmhagen" library lib --arch gfx1103,gfx1151 --preset llm-inference --no-compile >/dev/null
count llm-inference gfx1103,gfx1151 310
"$fmhagen" library lib --arch gfx1151 --preset all --no-compile >/dev/null
count all gfx1151 772
