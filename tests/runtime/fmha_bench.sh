#!/bin/sh
# fmha-bench, on the emulated device and over a simulated HIP runtime whose kernels take 0.25 ms:
# fmha_bench.sh FMHA-BENCH FOLDER-OF-THE-FAKES PYTHON
set -eu
bench=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# Fused and unfused give the same; the picture and the figures are well-formed.
"$bench" --device emu:gfx1151 --hd 64 --length 32,70 --heads 4 --gqa 2 --batch 1 --causal 1 --dtype bf16 --rounds 1 --warmup 0 \
    --json "$folder/json" --svg "$folder/svg" >"$folder/out" || fail "$(cat "$folder/out")"
[ "$(grep -c '^bf16 B1 H4/2 S[37][20] D64 causal  *fused  *[1-9][0-9.]* ' "$folder/out")" = 2 ] || fail "$(cat "$folder/out")"
[ "$(grep -c '  unfused  *[1-9][0-9.]* ' "$folder/out")" = 2 ] || fail "$(cat "$folder/out")"
"$3" - "$folder" <<'PYTHON'
import json, sys
import xml.etree.ElementTree as tree
report = json.load(open(sys.argv[1] + "/json"))
assert report["unit"] == "counted cycles" and report["arch"] == "gfx1151", report
for row, length in zip(report["rows"], (32, 70)):
    assert row["length"] == length and row["flop"] == 2 * 4 * 4 * length * length * 64 / 4, row
    assert row["difference"] < 0.01, row
    tensors = (4 + 4 + 2 + 2) * length * 64 * 2
    scores = 4 * length * length
    assert row["fused"]["bytes"] == tensors and row["unfused"]["bytes"] == tensors + scores * 12, row
    assert row["unfused"]["memory"] == tensors + scores * 6 and row["unfused"]["median"] > row["fused"]["median"], row
    assert row["instance"].startswith("fmha_forward_gfx1151_bf16_d64_causal_"), row
picture = tree.parse(sys.argv[1] + "/svg").getroot()
lines = [e for e in picture.iter() if e.tag.endswith("path") and e.get("stroke-width")]
assert len(lines) == 2 and len([e for e in picture.iter() if e.tag.endswith("circle")]) == 4, lines
PYTHON

# Decoding with its merge beside a copy, of several splits and of one.
"$bench" --device emu:gfx1151 --op decode --hd 64 --length 300 --heads 4 --gqa 2 --batch 1,2 --copy-mib 1 --rounds 1 --warmup 0 \
    --json "$folder/json" >"$folder/out" || fail "$(cat "$folder/out")"
[ "$(grep -c '^f16 B[12] H4/2 S300 D64  *decode  *[1-9][0-9.]* ' "$folder/out")" = 2 ] || fail "$(cat "$folder/out")"
[ "$(grep -c '  splits: 2$' "$folder/out")" = 2 ] || fail "$(cat "$folder/out")"
"$3" - "$folder" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1] + "/json"))
for row, batch in zip(report["rows"], (1, 2)):
    assert row["op"] == "decode" and row["batch"] == batch and row["splits"] == 2 and row["difference"] < 0.001, row
    assert row["flop"] == 4 * batch * 4 * 300 * 64 and "percent_of_copy" not in row and "fused" not in row, row
    cache, outputs = 2 * batch * 2 * 300 * 64 * 2, batch * 4 * 64
    parts = 2 * (outputs + batch * 4) * 4
    assert row["decode"]["bytes"] == cache and row["decode"]["memory"] == cache + 4 * outputs + parts, row
    assert row["merge"]["bytes"] == parts + 2 * outputs and row["copy"]["bytes"] == 2 << 20, row
    assert 0 < row["merge"]["median"] < row["decode"]["median"] and "gbs" not in row["decode"], row
    assert row["instance"].startswith("fmha_decode_gfx1151_f16_d64_causal_"), row
PYTHON
"$bench" --device emu:gfx1151 --op decode --hd 64 --length 300 --heads 4 --gqa 2 --batch 1 --splits 1 --copy-mib 1 --rounds 1 --warmup 0 \
    >"$folder/out" || fail "$(cat "$folder/out")"
grep -q '  merge  *none: a single split$' "$folder/out" || fail "$(cat "$folder/out")"

# Rates follow from times; what needs too much memory is left out and says so.
export FMHA_HIP_LIBRARY="$2/libfake_hip6.so" FMHA_HIPRTC_LIBRARY="$2/libfake_hiprtc.so" FAKE_GPU_LAUNCH_MS=0.25
"$bench" --device hip --hd 64 --length 2048 --batch 1 --heads 32 --causal 0 --memory-mib 700 --rounds 3 >"$folder/out" || fail "$(cat "$folder/out")"
# 4 * 64 * 32 heads * 2048 * 2048 floating point operations and 4 * 8 MiB in 250 us
grep -q '^f16 B1 H32/32 S2048 D64  *fused  *250.0  *137.44  *134.2  *32.0 MiB  *32.0 MiB$' "$folder/out" || fail "$(cat "$folder/out")"
grep -q '  unfused  left out: it needs 800 MiB$' "$folder/out" || fail "$(cat "$folder/out")"

# A copy of 1 MiB, read and written, in 250 us; decoding's rate in percent of the copy's.
"$bench" --device hip --op decode --hd 64 --length 9000 --batch 2 --copy-mib 1 --rounds 1 --warmup 0 --json "$folder/json" >"$folder/out" ||
    fail "$(cat "$folder/out")"
grep -q '  copy  *250.0  *8.4  *2.0 MiB  *2.0 MiB$' "$folder/out" || fail "$(cat "$folder/out")"
grep -q "  splits: 10; [0-9.]* % of the copy's bytes per second$" "$folder/out" || fail "$(cat "$folder/out")"
"$3" - "$folder" <<'PYTHON'
import json, sys
row = json.load(open(sys.argv[1] + "/json"))["rows"][0]
assert row["decode"]["bytes"] == 2 * 2 * 8 * 9000 * 64 * 2, row
assert abs(row["decode"]["gbs"] - row["decode"]["bytes"] / row["decode"]["median"] / 1e3) < 1e-6 * row["decode"]["gbs"], row
assert abs(row["percent_of_copy"] - 100 * row["decode"]["gbs"] / row["copy"]["gbs"]) < 1e-6 * row["percent_of_copy"], row
PYTHON

# What cannot be.
refused() {
    expected=$1
    shift
    if "$bench" "$@" >"$folder/out" 2>"$folder/error"; then
        fail "expected a refusal of $*"
    fi
    [ "$(cat "$folder/error")" = "fmha-bench: $expected" ] || fail "$(cat "$folder/error")"
}
refused "--device: expected a device such as cuda, got none; fmha-bench --help lists the options"
refused "--rounds: expected a whole number from 1 to 1000, got '0'" --device hip --rounds 0
refused "--dtype: expected f16 or bf16, got 'f32'; fmha-bench --help lists the options" --device hip --dtype f32
refused "--gqa: expected a divisor of 32 heads, got 3" --device hip --hd 64 --gqa 3
refused "q: expected a tensor that memory can hold, got 65535 x 65535 x 16777216 x 576 elements; ask for less" \
    --device hip --hd 576 --batch 65535 --heads 65535 --length 16777216
refused "--op: expected forward or decode, got 'merge'; fmha-bench --help lists the options" --device hip --op merge
refused "--svg: expected --op forward; fmha-bench --help lists the options" --device hip --op decode --svg x
refused "--splits: expected --op decode; fmha-bench --help lists the options" --device hip --splits 4
refused "expected options, got 'more'; fmha-bench --help lists the options" --device hip more
refused "FMHA_ERROR_ARGUMENT: device 'cudda': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'cudda'; did you mean 'cuda'?" \
    --device cudda
