#!/bin/sh
# Layouts that cannot be: the whole error, exit status 2, and nothing on standard output.
#   refused.sh FMHAGEN
set -eu
fmhagen=$1
failed=0

# refused TEXT OPTION...
refused() {
    text=$1
    shift
    status=0
    got=$("$fmhagen" --arch gfx1151 --hd 64 "$@" 2>&1) || status=$?
    if [ "$status" -ne 2 ] || [ "$got" != "fmhagen: $text" ]; then
        printf 'expected exit status 2 and\n  fmhagen: %s\ngot %s and\n  %s\n' "$text" "$status" "$got" >&2
        failed=1
    fi
}

refused '--paged with --v-layout transposed: a page holds rows of keys, of V too; leave out --v-layout transposed' \
    --paged --v-layout transposed --align 2
refused "--varlen packed with --v-layout transposed: a sequence's keys begin anywhere in a row of V, not at 16 bytes; add --align 2" \
    --varlen --v-layout transposed
example=$(dirname "$0")/../../examples/documents.hip
refused "modifier documents: a buffer of shape 'batch seqlen_k' with --varlen padded: each sequence has its own seqlen_k, by which no row of a tensor is found: leave seqlen_k out of the shape" \
    --varlen=padded --modifier "$example"
refused "modifier documents: a buffer of shape 'batch seqlen_k' with --paged: each sequence has its own seqlen_k, by which no row of a tensor is found: leave seqlen_k out of the shape" \
    --paged --modifier "$example"
exit $failed
