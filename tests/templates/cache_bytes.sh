#!/bin/sh
# What decoding reads of a cache for each key and key head is the cache's own size, its scales included: no byte is left out, and none is read
# twice by rows that fit a workgroup, with the default tiles of a chip of each family.
#   cache_bytes.sh FMHAGEN
set -eu
fmhagen=$1
failed=0

# expect ARCH BYTES READ OPTIONS: bytes of a key, and those that waves read.
expect() {
    arch=$1 bytes=$2 read=$3
    shift 3
    got=$("$fmhagen" verify --arch "$arch" --count --inputs random "$@" | sed -n '/^counted/{n;p;}' | awk '{ print $(NF - 1), $NF }')
    if [ "$got" != "$bytes $read" ]; then
        echo "$arch $*: expected $bytes bytes a key, $read read by waves, got '$got'" >&2
        failed=1
    fi
}

narrow='--op decode --hd 64 --shape 1,8,2,1,128 --splits 2'
wide='--op decode --hd 512 --shape 1,16,2,2,64 --splits 2'
latent='--op mla --shape 1,16,1,1,32 --splits 2'
# shellcheck disable=SC2086 # options are words
{
    expect gfx906 256 256 $narrow
    expect gfx942 256 256 $narrow --paged
    expect gfx1030 256 256 $narrow
    expect gfx1151 256 256 $narrow
    expect gfx1151 136 136 $narrow --kv-dtype e4m3 --kv-scale token
    # Each of the two products that a scale of K serves asks for it.
    expect gfx1151 68 70 $narrow --kv-dtype mxfp4
    # The scaled matrix instruction takes all numbers of a scale at once.
    expect gfx950 136 136 --op decode --hd 128 --shape 1,8,2,1,128 --splits 2 --kv-dtype mxfp4 --kv-math native
    expect gfx950 544 544 $wide --kv-dtype mxfp4 --kv-math native --paged
    expect gfx1151 2048 2048 $wide
    expect gfx1201 2048 2048 $wide
    expect gfx942 1152 1152 $latent
    expect gfx1151 1152 1152 $latent
    expect gfx1201 1152 1152 $latent
    expect gfx942 306 306 $latent --kv-dtype mxfp4
    # Each split's four waves have keys of their own.
    expect gfx950 306 306 --op mla --dtype bf16 --kv-dtype mxfp4 --kv-math native --shape 1,16,1,1,320 --splits 3
    # Eighty rows are two workgroups.
    expect gfx942 1152 2304 --op mla --shape 1,16,1,5,16
}
exit $failed
