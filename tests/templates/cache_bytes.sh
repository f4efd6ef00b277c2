#!/bin/sh
# What decoding reads of a cache for each key and key head: the cache's own size, its scales included, and how often lanes ask for it.
#   cache_bytes.sh FMHAGEN
set -eu
fmhagen=$1
failed=0

# expect ARCH BYTES ASKED OPTIONS: of K and V together. Lanes that want the same at once ask each for itself: on gfx1151 16 of them for what the
# other 16 have of K, for the scale of a block once in two products, on gfx942 in each. Of V each split, of two tiles, asks for the last one again.
expect() {
    arch=$1 bytes=$2 asked=$3
    shift 3
    got=$("$fmhagen" verify --arch "$arch" --count --inputs random "$@" | sed -n '/^counted/{n;p;}' |
        awk '{ print $(NF - 1), $NF }')
    if [ "$got" != "$bytes $asked" ]; then
        echo "$arch $*: expected $bytes bytes a key, $asked asked for, got '$got'" >&2
        failed=1
    fi
}

decode='--op decode --hd 64 --shape 1,8,2,1,128 --splits 2'
# shellcheck disable=SC2086 # options are words
{
    expect gfx1151 136 236 $decode --kv-dtype e4m3 --kv-scale token
    expect gfx1151 68 123 $decode --kv-dtype mxfp4
    expect gfx942 68 99 $decode --kv-dtype mxfp4
}
# 288 bytes and 18 scales, by each split's four waves.
expect gfx950 306 306 --op mla --dtype bf16 --kv-dtype mxfp4 --kv-math native --shape 1,16,1,1,320 --splits 3
exit $failed
