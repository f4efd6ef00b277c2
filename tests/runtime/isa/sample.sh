#!/bin/sh
# Compiled instances executed against the float64 reference: of each orientation, wave size, type and mask one, head
# dimensions mixed; another chip, rows without alignment, V transposed, pack. With FMHA_TEST_LONG=1 every default
# instance of gfx9, gfx10.3, gfx11 and gfx12 at 64, 128 and 256.
#   sample.sh FMHAGEN
set -eu
fmhagen=$1
failed=0

run() {
    began=$(date +%s)
    if ! "$fmhagen" verify --device isa --fail-fast "$@" >"$found" 2>&1; then
        echo "verify --device isa $*:" >&2
        cat "$found" >&2
        failed=1
    fi
    echo "$(($(date +%s) - began)) s: $*"
}

found=$(mktemp)
trap 'rm -f "$found" "$found.kept" "$found.1" "$found.2"' EXIT

if [ "${FMHA_TEST_LONG:-}" = 1 ]; then
    for hd in 64 128 256; do
        for causal in none bottom-right top-left; do
            run --arch gfx1151,gfx1201 --hd $hd --causal=$causal --orientation kq,qk --wave 32,64 --dtype f16,bf16
        done
    done
    for chip in gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1152 gfx1153 gfx11-generic gfx1200 gfx12-generic; do
        run --arch $chip --hd 64,128,256 --orientation kq,qk
    done
    run --arch gfx1031,gfx1032,gfx1033,gfx1034,gfx1035,gfx1036,gfx10-3-generic --hd 64,128
    for causal in none bottom-right; do
        run --arch gfx1030 --hd 64,128,256 --causal=$causal --orientation kq,qk
        run --arch gfx906,gfx9-generic --hd 64,128,256 --causal=$causal --orientation kq,qk
        for chip in gfx908 gfx90a gfx942 gfx950 gfx9-4-generic; do
            run --arch $chip --hd 64,128,256 --causal=$causal --orientation kq,qk --dtype f16,bf16
        done
    done
fi

run --arch gfx1151 --hd 128 --orientation kq --wave 32 --dtype f16
run --arch gfx1151 --hd 64 --orientation kq --wave 32 --dtype f16 --causal
run --arch gfx1151 --hd 72 --orientation kq --wave 32 --dtype bf16
run --arch gfx1151 --hd 128 --orientation kq --wave 32 --dtype bf16 --causal
run --arch gfx1151 --hd 64 --orientation kq --wave 64 --dtype f16
run --arch gfx1151 --hd 128 --orientation kq --wave 64 --dtype f16 --causal=top-left
run --arch gfx1151 --hd 40 --orientation kq --wave 64 --dtype bf16
run --arch gfx1151 --hd 64 --orientation kq --wave 64 --dtype bf16 --causal
run --arch gfx1151 --hd 64 --orientation qk --wave 32 --dtype f16
run --arch gfx1151 --hd 128 --orientation qk --wave 32 --dtype f16 --causal
run --arch gfx1151 --hd 128 --orientation qk --wave 32 --dtype bf16
run --arch gfx1151 --hd 72 --orientation qk --wave 32 --dtype bf16 --causal
run --arch gfx1151 --hd 40 --orientation qk --wave 64 --dtype f16
run --arch gfx1151 --hd 64 --orientation qk --wave 64 --dtype f16 --causal
run --arch gfx1151 --hd 128 --orientation qk --wave 64 --dtype bf16
run --arch gfx1151 --hd 64 --orientation qk --wave 64 --dtype bf16 --causal=top-left
run --arch gfx1151 --hd 256
run --arch gfx1100 --hd 128 --causal
run --arch gfx1103 --hd 64 --gqa 4
run --arch gfx1151 --hd 64 --hd-v 128 --align 2 --causal
run --arch gfx1151 --hd 128 --v-layout transposed
run --arch gfx1151 --op pack
run --arch gfx906 --hd 64 --causal
run --arch gfx908 --hd 64 --dtype bf16 --causal
run --arch gfx908 --hd 128 --orientation qk
run --arch gfx90a --hd 64 --dtype f16,bf16
run --arch gfx942 --hd 128 --causal
run --arch gfx942 --hd 64 --orientation qk --dtype bf16
run --arch gfx950 --hd 64 --dtype f16,bf16 --causal
run --arch gfx9-4-generic --hd 64 --orientation qk
run --arch gfx1030 --hd 128 --causal
run --arch gfx1034 --hd 64 --orientation qk
run --arch gfx10-3-generic --op pack
run --arch gfx1201 --hd 128 --orientation kq --wave 32 --dtype f16 --causal
run --arch gfx1201 --hd 64 --orientation kq --wave 64 --dtype bf16 --causal
run --arch gfx1201 --hd 72 --orientation qk --wave 32 --dtype bf16
run --arch gfx1200 --hd 64 --orientation qk --wave 64 --dtype f16 --causal=top-left
run --arch gfx12-generic --hd 256
run --arch gfx1201 --hd 128 --v-layout transposed
run --arch gfx1201 --op pack

# Beyond 256 dimensions, where workgroups share V's columns or a wave has them all.
for chip in gfx1151 gfx1201 gfx942 gfx950 gfx90a gfx906; do
    run --arch $chip --hd 576 --hd-v 512 --causal --shape 1,2,1,20,40
done
run --arch gfx1030 --hd 320 --shape 1,2,1,20,40
run --arch gfx1201 --hd 64 --hd-v 72 --v-slices 3 --orientation kq,qk --shape 1,2,1,20,40

# Tuning by counted cycles: the same figures each time, the least of them best.
for time in 1 2; do
    "$fmhagen" tune --device isa:gfx1151 --hd 64 --shape 1,2,1,64,96 --gqa 1,2 --orientation kq,qk -o "$found.kept" \
        >"$found.$time"
done
if ! cmp -s "$found.1" "$found.2" || [ "$(grep -c ' 1  fmha_forward_gfx1151_f16_d64_' "$found.1")" -lt 3 ] ||
    ! awk '/ fmha_forward_gfx/ { if (NF == 7 && /<- best/) best = $1; if (!least || $1 < least) least = $1 }
           END { exit !(best > 0 && best == least) }' "$found.1"; then
    echo "tune --device isa:gfx1151:" >&2
    cat "$found.1" "$found.2" >&2
    failed=1
fi
exit $failed
