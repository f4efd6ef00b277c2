#!/bin/sh
# Prints, as a Markdown table, what `fmhagen report` counts in the unmasked loops of kernels without matrix instructions: one row for each.
#
#   bench/dot-table.sh [OPTIONS OF fmhagen report]
#
# Without options: the defaults that docs/performance.md shows. $FMHAGEN is the program (fmhagen).
# The figures are modelled from the compiled code; nothing is measured.
set -eu

if [ $# -eq 0 ]; then
    set -- --arch gfx1030,gfx906,gfx9-generic --hd 64,128,256 --orientation kq,qk
fi

reports=$(mktemp)
trap 'rm -f "$reports"' EXIT
"${FMHAGEN:-fmhagen}" report "$@" --json >"$reports"

python3 - "$reports" <<'EOF'
import json
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read().strip()

print("| kernel | VGPR | waves/SIMD | scores a lane | multiply-adds | other VALU | s_nop and hints | LDS bytes a lane "
      "| multiply-adds per 16 LDS bytes | SIMD cycles | LDS cycles | bound |")
print("|" + "---|" * 12)
while text:
    report, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    body = next(loop for loop in report["loops"] if loop["role"] == "body")
    way = body["ways"][0]
    total = way["total"]
    rows, keys, waves = map(int, re.search(r"_m(\d+)k(\d+)w(\d+)", report["instance"]).groups())
    cells = [
        report["instance"].removeprefix("fmha_"),
        report["resources"]["vgpr"],
        report["resources"]["waves_per_simd"],
        rows * keys // (waves * report["wave"]),
        total["multiply_add"],
        total["valu"] + total["transcendental"] - total["multiply_add"],
        total["hint"],
        total["lds_bytes"],
        f"{16 * total['multiply_add'] / total['lds_bytes']:.1f}",
        way["simd_cycles"],
        way["lds_cycles"],
        f"{way['bound_percent']:g} %",
    ]
    print("| " + " | ".join(map(str, cells)) + " |")
EOF
