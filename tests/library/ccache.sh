#!/bin/sh
# ccache behind build.ninja's launcher: a second build of the same texts, elsewhere, compiles nothing.
#   ccache.sh FMHAGEN
set -eu
fmhagen=$(realpath "$1")
command -v ccache >/dev/null || { echo "skipped: there is no ccache here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
CCACHE_DIR="$folder/cache" CCACHE_STATSLOG="$folder/log"
export CCACHE_DIR CCACHE_STATSLOG
unset CCACHE_DISABLE CCACHE_READONLY CCACHE_RECACHE
for lib in first second; do
    "$fmhagen" library $lib --arch gfx1151 --preset minimal --no-compile --launcher ccache >/dev/null
    : > log
    ninja -C $lib >/dev/null
    hits=$(grep -c '_cache_hit$' log || true)
    expected=$([ $lib = first ] && echo 0 || echo 8)
    [ "$hits" -eq "$expected" ] || { echo "$lib build: expected $expected hits, got $hits:" >&2; cat log >&2; exit 1; }
done
cmp first/gfx1151/fmha.index second/gfx1151/fmha.index
echo "8 of 8 compilations of the second build came from ccache"
