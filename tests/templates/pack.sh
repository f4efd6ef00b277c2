#!/bin/sh
# The transposition through LDS has no bank conflicts, whatever the wave and the number of waves, and every element is read and written
# once; that the count would show conflicts is seen on copies of the template without its swizzle and without its padding.
#   pack.sh FMHAGEN SOURCE_ROOT
set -eu
fmhagen=$1
root=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$root/templates" "$folder/swizzle"
cp -R "$root/templates" "$folder/padding"
sed -i 's|((pair / 4) ^ (column / 8)) \* 4|(pair / 4) * 4|' "$folder/swizzle/ops/pack.hip"
sed -i 's|T // 2 or T // 2 + 1|T // 2 or T // 2|' "$folder/padding/ops/pack.hip"
for changed in swizzle padding; do
    ! cmp -s "$root/templates/ops/pack.hip" "$folder/$changed/ops/pack.hip" || { echo "$changed: the template no longer has its words" >&2; exit 1; }
done

count() {
    "$fmhagen" verify --arch gfx1151 --op pack --v-layout transposed --count --json --shape 1,2,200,136 "$@"
}
# Two waves with --align 2 are left out: the host's compiler joins the writes of neighbouring pairs, which the chip's does not.
count --align 16,2 --wave 32,64 --waves 4 >"$folder/ours.json"
count --align 16 --wave 32,64 --waves 1,2 >>"$folder/ours.json"
count --align 16,2 --wave 32 --waves 8 >>"$folder/ours.json"
count --align 16 --template-dir "$folder/swizzle" >"$folder/swizzle.json"
count --align 2 --template-dir "$folder/padding" >"$folder/padding.json"
python3 - "$folder" <<'END'
import json, sys

def reports(name):
    text, decoder = open(f"{sys.argv[1]}/{name}.json").read(), json.JSONDecoder()
    while text.strip():
        report, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        yield report["instance"], report["cases"][0]["counters"]

count = 0
for instance, counters in reports("ours"):
    tensors = counters["tensors"]
    assert counters["lds_reads"] > 0 and counters["lds_conflict_cycles"] == 0, (instance, counters)
    for number in ("bytes_read", "unique_bytes_read"):
        assert tensors["from"][number] == 2 * 2 * 200 * 136, (instance, tensors)
    for number in ("bytes_written", "unique_bytes_written"):
        assert tensors["to"][number] == 2 * 2 * 200 * 136, (instance, tensors)
    count += 1
assert count == 10, count
for name in ("swizzle", "padding"):
    ((instance, counters),) = reports(name)
    assert counters["lds_conflict_cycles"] > 0, (name, counters)
    print(f"{name}: without it {counters['lds_conflict_cycles']:.0f} of {counters['lds_cycles']:.0f} LDS cycles are lost to conflicts")
print(f"{count} instances: no bank conflicts, each element read and written once")
END
