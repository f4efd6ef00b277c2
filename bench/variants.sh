#!/bin/sh
# Prints, as a Markdown table, what `fmhagen report` models when one knob of a default is turned: f16, D = 128, no mask, gfx1151.
# $FMHAGEN is the program (fmhagen). The figures are modelled from the compiled code; nothing is measured.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

# The row of one kernel, under the name of its options.
row() {
    title=${*:-the default}
    "$here/model-table.sh" --arch gfx1151 --hd 128 "$@" | tail -n 1 | sed "s/^| [^|]*|/| $title |/"
}

"$here/model-table.sh" --arch gfx1151 --hd 128 | head -n 2 | sed '1s/kernel/options/'
row
row --wave 64
row --block-m 128
row --block-m 128 --waves 4
row --block-k 16
row --block-k 64
row --gqa 4
row --k-path direct
row --v-path gather
row --v-layout transposed
row --v-layout transposed --v-path direct
row --q-path lds
row --align 2
row --orientation qk
row --orientation qk --pipeline 2
row --orientation qk --k-path lds
row --orientation qk --v-path gather
