#!/bin/sh
# Problems on which users of such kernels have met faults, each by its name: what is right there is verified, what cannot be served is refused.
#   faults.sh FMHAGEN [NAME]
set -eu
fmhagen=$1
only=${2:-}
failed=0

# row NAME OPTION...: the kernel is right.
row() {
    name=$1
    shift
    [ -z "$only" ] || [ "$only" = "$name" ] || return 0
    if ! got=$("$fmhagen" verify "$@" 2>&1); then
        printf '%s: %s\n%s\n' "$name" "$*" "$got" >&2
        failed=1
    fi
}

# refused NAME TEXT OPTION...: the whole error, exit status 2.
refused() {
    name=$1 text=$2
    shift 2
    [ -z "$only" ] || [ "$only" = "$name" ] || return 0
    status=0
    got=$("$fmhagen" verify "$@" 2>&1) || status=$?
    if [ "$status" -ne 2 ] || [ "$got" != "fmhagen: $text" ]; then
        printf '%s: expected exit status 2 and\n  fmhagen: %s\ngot %s and\n  %s\n' "$name" "$text" "$status" "$got" >&2
        failed=1
    fi
}

rdna3='--arch gfx1151'
# Sequences of a query or none, of 3, 0 and 5 keys: one query each is not assumed.
for device in emu isa; do
    row 'one query or none' $rdna3 --device $device --hd 64 --varlen --causal=none,bottom-right --shape 9,3 --q-lens 1,0,1 --k-lens 3,0,5
done
row 'diagonal of each sequence' $rdna3 --device isa --hd 64 --varlen=packed,padded --causal --shape 4,2 --q-lens 20,5,33 --k-lens 70,90,9
row 'most rows see no key' $rdna3 --device isa --hd 128 --causal --shape 1,1,1,512,256
# Of as many rows as here the first 14 are hidden by the bias; a sink is what they see.
row 'first 14 rows hidden' $rdna3 --hd 512 --bias --sink=off,on --shape 1,2,1,30,40
row 'first 14 rows hidden, bf16' --arch gfx942 --device isa --dtype bf16 --hd 512 --bias=f32 --sink --shape 1,2,1,30,40
row 'two key heads of twelve' $rdna3 --hd 64 --inputs impulse --shape 1,24,2,3,40
row 'ten and forty heads' $rdna3 --hd 64 --inputs impulse --shape 1,10,10,3,20 --shape 1,40,8,3,20
row 'V narrower than K' $rdna3 --hd 192 --hd-v 128 --causal --varlen=none,packed --paged=off,on --shape 2,2,1,20,70
row '65536 sequences' $rdna3 --device isa --hd 8 --block-m 16 --waves 1 --block-k 16 --checks off --inputs random --shape 65536,1,1,1,1
row '65536 sequences, packed number' --arch gfx1201 --device isa --hd 8 --block-m 16 --waves 1 --block-k 16 --checks off --inputs random --shape 65536,1,1,1,1
refused 'batches beyond a grid' 'fmha_forward_gfx1201_f16_d64_m128k64w8_vtr: shape 65537,1,1,1,1: expected batch at most 65536, got 65537; choose batch at most 65536' \
    --arch gfx1201 --hd 64 --shape 65537,1,1,1,1
refused 'heads beyond a grid' 'fmha_forward_gfx1201_f16_d64_m128k64w8_vtr_gqa2: shape 1,131074,1,1,1: expected heads_q / 2 at most 65536, got 65537; choose heads_q / 2 at most 65536' \
    --arch gfx1201 --hd 64 --gqa 2 --shape 1,131074,1,1,1
refused 'tiles of queries beyond a grid' 'fmha_decode_gfx1201_f16_d64_m16k32w1_kdirect: shape 1,2,2,524289,1: expected heads_k * ceil_div(heads_q / heads_k * seqlen_q, 16) at most 65536, got 65538; choose heads_k * ceil_div(heads_q / heads_k * seqlen_q, 16) at most 65536' \
    --arch gfx1201 --op decode --hd 64 --shape 1,2,2,524289,1
refused 'packed batches beyond a grid' 'fmha_pack_gfx1201_w4: shape 65537,1,1,8: expected batch at most 65536, got 65537; choose batch at most 65536' \
    --arch gfx1201 --op pack --shape 65537,1,1,8
row '70000 sequences in pages of one key' $rdna3 --op append --hd 8 --paged --page-size 1 --shape 70000,1,1,2
row 'appended to 65537 sequences' --arch gfx1201 --device isa --op append --hd 8 --checks off --shape 65537,1,1,1
refused 'lanes beyond a grid' 'fmha_append_gfx1151_f16_d8_w2: shape 65536,8192,1,1: expected batch * seqlen_new * heads_k * 8 at most 4294967232, got 4294967296; choose batch * seqlen_new * heads_k * 8 at most 4294967232' \
    $rdna3 --op append --hd 8 --shape 65536,8192,1,1
refused 'scales beyond a grid' 'fmha_quantize_gfx1201_f16_kve4m3_d8_scales_w8: shape 1,70000,1: expected scales at most 65536, got 70000; choose scales at most 65536' \
    --arch gfx1201 --op quantize --hd 8 --kv-dtype e4m3 --pass scales --shape 1,70000,1
refused 'three heads over two' 'fmha_forward_gfx1151_f16_d64_m64k32w4: shape 1,3,2,5,5: expected heads_q % heads_k equal to 0, got 1; choose heads_q as a multiple of heads_k' \
    $rdna3 --hd 64 --shape 1,3,2,5,5
refused 'head dimension 33' "--hd: expected a multiple of 8 from 8 to 576, got '33'; the nearest are 32 and 40" $rdna3 --hd 33
refused 'head dimension 62' "--hd: expected a multiple of 8 from 8 to 576, got '62'; the nearest are 56 and 64" $rdna3 --hd 62
row 'a window of all' $rdna3 --device isa --hd 64 --window=-1,-1 --causal=none,bottom-right --shape 1,2,1,40,90 --shape 1,2,1,90,40
row '2048 keys' $rdna3 --device isa --hd 64 --window=2047,0 --shape 1,1,1,3,2100
row 'the widest windows' $rdna3 --device isa --hd 64 --window=1073741824,1073741824 --causal=none,bottom-right,top-left --shape 1,2,1,90,40
# What is in no sequence's pages is NaN.
row '4090 keys in pages of 16' $rdna3 --device isa --hd 128 --paged --page-size 16 --inputs random --shape 1,4,1,1,4090 --k-lens 4090
row 'pages of 16, four heads fused' $rdna3 --hd 128 --gqa 4 --varlen --paged --page-size 16 --causal --shape 4,1 --q-lens 1,0,3 --k-lens 90,5,17
# The one tile that is visited is its own next one.
ahead="$rdna3 --device isa --hd 64 --orientation qk --pipeline 2 --k-path direct --v-path lds,gather --paged --page-size 16"
row 'one tile in pages, a tile ahead' $ahead --shape 2,1,1,5,90 --k-lens 20,90
row 'the last tile in pages, a tile ahead' $ahead --window=3,0 --shape 2,1,1,5,90 --k-lens 73,90
row 'the smallest cap' $rdna3 --device isa --hd 64 --softcap=1e-30 --causal --window=30,0 --mask --shape 1,2,1,40,70
row 'the largest cap' $rdna3 --device isa --hd 64 --softcap=1e30 --causal --shape 1,2,1,40,70
row 'scale 0 and below' $rdna3 --device isa --hd 64 --scale 0 --causal --shape 1,2,1,40,70
row 'a negative scale' $rdna3 --device isa --hd 64 --scale -0.5 --softcap --sink --head-scale --causal --shape 1,2,1,40,70

# Everything at once, in sequences of any length.
lengths='--shape 4,2 --q-lens 1,0,70,17 --k-lens 37,20,105,0'
most='--causal --window --sink-keys --prefix --softcap --alibi --bias --mask --sink --head-scale --dropout'
for chip in gfx906 gfx908 gfx942 gfx1030 gfx1151 gfx1201; do
    row "everything on $chip" --arch $chip --device isa --hd 64 $most --block-mask --varlen --paged $lengths
done
row 'everything in qk, fused' $rdna3 --device isa --hd 64 --gqa 2 --orientation qk $most --varlen --paged $lengths
row 'everything in waves of 64' $rdna3 --device isa --hd 64 --wave 64 --orientation kq,qk $most --block-mask --varlen --paged $lengths
row 'everything in slices' $rdna3 --device isa --hd 72 --v-slices 2 $most --block-mask --varlen --paged $lengths
row 'everything, V transposed' $rdna3 --device isa --hd 64 --align 2 --v-layout transposed --v-path lds,direct $most --block-mask --varlen=packed,padded $lengths
row 'everything, a tile ahead' $rdna3 --device isa --hd 64 --orientation qk --pipeline 2 --k-path direct --v-path lds,gather --causal --window --prefix --softcap --alibi \
    --bias --mask --sink --head-scale --dropout --varlen --paged $lengths
row 'everything, K straight to LDS' --arch gfx942,gfx950 --device isa --hd 64 --k-path async --causal --window --prefix --softcap --alibi --bias --mask --sink --head-scale \
    --dropout --varlen --paged $lengths
row 'everything at the ends' --arch gfx1030 --device isa --hd 72 --align 2 --causal=top-left --window=0,0 --sink-keys=1000 --prefix=1000 --softcap=1e-6 --dropout=0.999 --varlen \
    --paged --page-size 1 $lengths
row 'everything, nothing there' $rdna3 --hd 64 $most --block-mask --varlen --paged --shape 0,2,1,30,16
exit $failed
