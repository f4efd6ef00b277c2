#!/bin/sh
# Prints, as a Markdown table, what `fmhagen report` models for the default forward kernels of every chip: a row for each AMD chip and head
# dimension (64, 128, 256; f16, no mask). Chips whose rows are alike share them.
#
#   bench/chips-table.sh [OPTIONS OF fmhagen report]
#
# $FMHAGEN is the program (fmhagen). The figures are modelled from the compiled code; nothing is measured.
set -eu

if [ $# -eq 0 ]; then
    set -- --arch "$("${FMHAGEN:-fmhagen}" list --arch | awk 'NR > 1 { print $1 }' | grep ^gfx | paste -sd ,)" --hd 64,128,256
fi

reports=$(mktemp)
trap 'rm -f "$reports"' EXIT
"${FMHAGEN:-fmhagen}" report "$@" --json >"$reports"

python3 - "$reports" <<'EOF'
import json
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read().strip()
chips = {}  # the cells of a row: the chips that have it
while text:
    report, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    resources = report["resources"]
    body = next(loop for loop in report["loops"] if loop["role"] == "body")
    ways = body["ways"]
    product = "multiply_add" if report["useful"] == "multiply_add" else "matrix"
    head_dim, tile = re.search(r"_d(\d+(?:v\d+)?)_(.*)", report["instance"]).groups()

    def of_ways(value):
        return " / ".join(dict.fromkeys(f"{value(way):g}" for way in ways))

    cells = (
        head_dim,
        tile,
        f"{resources['vgpr']}" + (f" + {resources['spills']} spilled" if resources["spills"] else ""),
        f"{resources['lds_bytes']}",
        f"{resources['waves_per_simd']}",
        of_ways(lambda way: way["total"][product]) + (" multiply-adds" if product != "matrix" else ""),
        of_ways(lambda way: way["total"]["valu"]),
        of_ways(lambda way: way["total"]["transcendental"]),
        of_ways(lambda way: way["total"]["lds"]),
        of_ways(lambda way: way["bound_percent"]) + " %",
    )
    chips.setdefault(cells, []).append(report["arch"])

print("| chips | D | tile | VGPR | LDS bytes | waves/SIMD | matrix | VALU | trans. | LDS | modelled bound |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for cells, alike in sorted(chips.items(), key=lambda row: (row[1], [int(n) for n in row[0][0].split("v")])):
    print("| " + " | ".join((", ".join(alike),) + cells) + " |")
EOF
