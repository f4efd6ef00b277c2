#!/bin/sh
# Prints, as a Markdown table, what `fmhagen report` models for a set of kernels: one row for each.
#
#   bench/model-table.sh [OPTIONS OF fmhagen report]
#
# Without options: the defaults of gfx1151 and gfx1100 that docs/performance.md shows. $FMHAGEN is the program (fmhagen).
# The figures are modelled from the compiled code; nothing is measured.
set -eu

if [ $# -eq 0 ]; then
    set -- --arch gfx1151,gfx1100 --hd 64,128,256 --dtype f16,bf16 --orientation kq,qk --causal=none,bottom-right
fi

reports=$(mktemp)
trap 'rm -f "$reports"' EXIT
"${FMHAGEN:-fmhagen}" report "$@" --json >"$reports"

python3 - "$reports" <<'EOF'
import json
import sys

# RDNA: LDS and SIMDs of a workgroup processor, which is what the waves of a workgroup share; at most 16 waves a SIMD.
LDS_BYTES, SIMDS = 131072, 4

text = open(sys.argv[1], encoding="utf-8").read().strip()

print("| kernel | VGPR | LDS bytes | waves/SIMD by VGPR | by LDS | VALU/WMMA | trans./WMMA | LDS/WMMA | bound |")
print("|---|---|---|---|---|---|---|---|---|")
while text:
    report, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    resources = report["resources"]
    body = next(loop for loop in report["loops"] if loop["role"] == "body")
    waves = -(-resources["workgroup_max"] // report["wave"])
    lds = resources["lds_bytes"]
    by_lds = f"{min(16, LDS_BYTES // lds * waves / SIMDS):g}" if lds else "–"
    ways = body["ways"]

    def of_ways(value):
        return " / ".join(f"{value(way):g}" for way in ways)

    cells = [
        report["instance"].removeprefix("fmha_"),
        f"{resources['vgpr']}" + (f" + {resources['spills']} spilled" if resources["spills"] else ""),
        f"{lds}",
        f"{resources['waves_by_vgpr']}",
        by_lds,
        of_ways(lambda way: way["per_matrix"]["valu"]),
        of_ways(lambda way: way["per_matrix"]["transcendental"]),
        of_ways(lambda way: way["per_matrix"]["lds"]),
        of_ways(lambda way: way["bound_percent"]) + " %",
    ]
    print("| " + " | ".join(cells) + " |")
EOF
