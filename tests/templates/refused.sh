#!/bin/sh
# Layouts that cannot be: the whole error, exit status 2, and nothing on standard output.
#   refused.sh FMHAGEN
set -eu
fmhagen=$1
failed=0

# refused TEXT OPTION...: of $arch
arch=gfx1151
refused() {
    text=$1
    shift
    status=0
    got=$("$fmhagen" --arch $arch --hd 64 "$@" 2>&1) || status=$?
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

refused '--kv-math native on gfx1151: its matrix instructions do not multiply fp8: use --kv-math convert' --kv-dtype fp8 --kv-math native
arch=gfx942
refused '--kv-math native with --kv-dtype e4m3: expected e4m3fnuz or e5m2fnuz, which the matrix instructions of gfx942 multiply: use --kv-dtype fp8, or --kv-math convert' \
    --kv-dtype e4m3 --kv-math native
refused '--matrix: expected 32x32 or 16x16x32 on gfx942, got '"'16x16'" --kv-dtype fp8 --kv-math native --matrix 16x16
refused '--matrix: expected 16x16 or 32x32 on gfx942, got '"'16x16x32'" --matrix 16x16x32
arch=gfx1201
refused '--kv-math native with --kv-dtype same: expected e4m3 or e5m2, which the matrix instructions of gfx1201 multiply: use --kv-dtype fp8, or --kv-math convert' \
    --kv-math native
refused '--kv-math native is built for --orientation kq: leave out --orientation qk' --kv-dtype fp8 --kv-math native --orientation qk
refused "--kv-math native with --v-path transpose: V's bytes are transposed on their way to LDS: use --v-path lds" \
    --kv-dtype fp8 --kv-math native --v-path transpose
refused '--kv-math native with --dropout: weights above 1 would leave the range of fp8: use --kv-math convert' --kv-dtype fp8 --kv-math native --dropout
refused '--kv-math native with --v-waves 2: the scale of a row of Q is found by one wave: use --v-waves 1' --kv-dtype fp8 --kv-math native --v-waves 2
refused '--kv-math native with --kv-dtype mxfp4: gfx1201 has no matrix instructions of such numbers; use --kv-math convert' --kv-dtype mxfp4 --kv-math native
refused '--scale-rule threequarters: expected something that becomes mxfp4: add --kv-dtype mxfp4 --kv-math native, or leave it out' \
    --kv-dtype mxfp4 --scale-rule threequarters
arch=gfx950
refused '--kv-math native is built for --orientation kq: leave out --orientation qk' --kv-dtype mxfp4 --kv-math native --orientation qk
refused "--kv-math native with --kv-dtype mxfp4 and --k-path async: K's rows get another pitch on their way to LDS: use --k-path lds or direct" \
    --kv-dtype mxfp4 --kv-math native --k-path async
refused '--kv-math native with --kv-dtype mxfp4: expected --q-path register, got lds: Q takes few; leave --q-path out' \
    --kv-dtype mxfp4 --kv-math native --q-path lds
refused '--kv-dtype mxfp4 with --v-path gather: V is converted by eights: use --v-path lds' --kv-dtype mxfp4 --kv-math native --v-path gather
refused '--kv-dtype mxfp4 with --v-layout transposed: expected V in rows of keys; leave out --v-layout transposed' \
    --kv-dtype mxfp4 --kv-math native --v-layout transposed
arch=gfx1201
refused '--kv-dtype mxfp4: expected head dimensions of whole scales, multiples of 32, got 80: use --kv-dtype e4m3' --hd-v 80 --kv-dtype mxfp4
refused '--kv-dtype e4m3 with --v-path transpose: the loads transpose 16-bit elements: use --v-path lds' --kv-dtype e4m3 --v-path transpose
exit $failed
