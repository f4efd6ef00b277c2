#!/bin/sh
# Prints, as a Markdown table, what limits kernels: the ways through the unmasked loop, loads and their waits, and what a run of 4096 queries
# and keys of one head counts. One row for each.
#
#   bench/limits-table.sh [OPTIONS OF fmhagen report]
#
# Without options: the defaults that docs/performance.md shows. $FMHAGEN is the program (fmhagen). Cycles are modelled from the compiled
# code, shares and conflicts counted by executing it on this machine's processor; nothing is measured.
set -eu

if [ $# -eq 0 ]; then
    set -- --arch gfx1151,gfx1100,gfx1201,gfx942,gfx950 --hd 64,128,256
fi

reports=$(mktemp)
trap 'rm -f "$reports"' EXIT
"${FMHAGEN:-fmhagen}" report --causal "$@" --run --shape 1,1,1,4096,4096 --json >"$reports"

python3 - "$reports" <<'EOF_PYTHON'
import json
import sys

text = open(sys.argv[1], encoding="utf-8").read().strip()

print("| kernel | VGPR | waves/SIMD | bound | vector/matrix | LDS/matrix | global load to wait | LDS load to wait | covered | "
      "matrix in the body | bank cycles in conflict | bound of the run, with these |")
print("|---|---|---|---|---|---|---|---|---|---|---|---|")
while text:
    report, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    resources = report["resources"]
    body = next(loop for loop in report["loops"] if loop["role"] == "body")
    waits = {wait["kind"]: wait for wait in body["waits"] if wait["loads"]}
    (run,) = report["runs"]
    counters = run["counters"]

    def of_ways(value):
        return " / ".join(f"{value(way):g}" for way in body["ways"])

    def wait(kind):
        return f"{waits[kind]['least_cycles']:g}" if kind in waits else "–"

    cells = [
        report["instance"].removeprefix("fmha_forward_"),
        f"{resources['vgpr']}" + (f" + {resources['spills']} spilled" if resources["spills"] else ""),
        f"{resources['waves_per_simd']}",
        of_ways(lambda way: way["bound_percent"]) + " %",
        of_ways(lambda way: way["vector_per_matrix_cycle"]),
        f"{body['ways'][0]['per_matrix']['lds']:g}",
        wait("global"),
        wait("lds"),
        ", ".join(kind for kind in ("global", "lds") if kind in waits and waits[kind]["covered"]) or "none",
        f"{run['body_percent']:g} %",
        f"{100 * counters['lds_conflict_cycles'] / counters['lds_cycles']:.0f} %" if counters["lds_cycles"] else "–",
        f"{run['bound_percent']:.1f}, {run['with_bank_cycles']['bound_percent']:.1f} %",
    ]
    print("| " + " | ".join(cells) + " |")
EOF_PYTHON
