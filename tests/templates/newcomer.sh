#!/bin/sh
# newcomer.sh SOURCE - adds gfx900 to a copy of the tree as docs/architectures.md says, its table and its row of the emulated device
# being the page's, builds the program, and verifies the new chip.
set -eu

source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
page=$source/docs/architectures.md

tree=$folder/tree
mkdir "$tree"
(cd "$source" && tar -cf - --exclude=./build --exclude=./.git .) | tar -xf - -C "$tree"
sed -n '/^    local chip = {}$/,/^    return chip$/s/^    //p' "$page" >"$tree/templates/arch/gfx900.lua"
row=$(sed -n 's/^ *\({"gfx900", EMU_[A-Z0-9]*, .*},\)$/\1/p' "$page")
[ -n "$row" ] || { echo "newcomer: expected a row for runtime/emu/chips.c in $page, found none" >&2; exit 1; }
sed -i "s/^static const emu_chip chips\[\] = {\$/&\n    $row/" "$tree/runtime/emu/chips.c"

meson setup "$folder/build" "$tree" -Dtests=false >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
ninja -C "$folder/build" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$folder/build/gen/cli/fmhagen" verify --arch gfx900 --hd 64,128 --causal=none,bottom-right
