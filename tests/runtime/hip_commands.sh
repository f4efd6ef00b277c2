#!/bin/sh
# fmhagen tune and selftest over a simulated HIP runtime with two devices, whose kernels do nothing and take 0.25 ms:
# hip_commands.sh FMHAGEN FOLDER-OF-THE-FAKES
set -eu
fmhagen=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
export FMHA_HIP_LIBRARY="$2/libfake_hip6.so" FMHA_HIPRTC_LIBRARY="$2/libfake_hiprtc.so" FAKE_GPU_LAUNCH_MS=0.25
export FMHA_CACHE_DIR="$folder/cache" TMPDIR="$folder"
unset FMHA_LIBRARY_PATH FMHA_CHOICES ROCM_PATH FMHA_HIPCC || true

fail() {
    echo "$*" >&2
    exit 1
}

# Every instance takes the same time, so the first by name is best; the file says what was measured, and by what.
"$fmhagen" tune --device hip:1 --hd 64 --shape 1,4,1,64,64 --gqa 1,4 -o "$folder/kept" >"$folder/out" || fail "tune failed"
grep -q '^hip:1, Simulated Radeon, HIP 6.4.43484$' "$folder/out" || fail "$(cat "$folder/out")"
[ "$(grep -c '^ *250.0 *250.0 *250.0 *20  fmha_forward_gfx1100_' "$folder/out")" = 2 ] || fail "$(cat "$folder/out")"
grep -q '^choice chip=gfx1100 driver=hip .* instance=fmha_forward_gfx1100_f16_d64_m64k32w4 figure=250 unit=us runs=20 time=[1-9][0-9]* version=HIP 6.4.43484, libfmha ' \
    "$folder/kept" || fail "$(cat "$folder/kept")"

# Kernels that do nothing are wrong, on each device; times are told all the same.
if "$fmhagen" selftest --quick -o "$folder/report" >"$folder/out"; then
    fail "expected status 1 of wrong kernels, got 0"
fi
[ "$(cat "$folder/out")" = "0 of 4 kernels are right, on 2 devices; the report is in $folder/report" ] || fail "$(cat "$folder/out")"
[ "$(grep -c '^    WRONG ' "$folder/report")" = 4 ] || fail "$(cat "$folder/report")"
for chip in gfx1151 gfx1100; do
    grep -q "^device hip:[01]: Simulated Radeon, $chip, 20 compute units, 65536 bytes of LDS a workgroup$" "$folder/report" || fail "$(cat "$folder/report")"
    # 4 * 64 * 32 heads * 2048 * 2048 floating point operations in 250 us
    grep -q "^ *250.0 *250.0 *250.0 *137.44  fmha_forward_${chip}_f16_d64_m64k32w4$" "$folder/report" || fail "$(cat "$folder/report")"
    grep -q "^ *250.0 *250.0 *250.0 *68.75  fmha_forward_${chip}_f16_d64_causal_m64k32w4$" "$folder/report" || fail "$(cat "$folder/report")"
done
