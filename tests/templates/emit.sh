#!/bin/sh
# 576 different instances from one process, each with its own name: under a second in a release build, and not much more with sanitizers.
#   emit.sh FMHAGEN
set -eu
fmhagen=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
start=$(date +%s%N)
"$fmhagen" generate --arch gfx1100,gfx1151 --hd 64,72,80,128,136,256 --dtype f16,bf16 --causal=none,bottom-right,top-left \
    --orientation kq,qk --wave 32,64 --align 16,2 -o "$folder" >/dev/null
end=$(date +%s%N)
count=$(find "$folder" -name '*.hip' | wc -l)
[ "$count" -eq 576 ] || { echo "expected 576 instances, got $count" >&2; exit 1; }
milliseconds=$(((end - start) / 1000000))
echo "$count instances in $milliseconds ms"
[ "$milliseconds" -lt "${FMHA_EMIT_LIMIT_MS:-5000}" ] || { echo "expected less than ${FMHA_EMIT_LIMIT_MS:-5000} ms" >&2; exit 1; }
