#!/usr/bin/env python3
"""What the default forward kernels reach in the loop that masks nothing, by the model of `fmhagen report`: no later change may lose it.

    bounds.py FMHAGEN

Bounds are of the way on which nothing is rescaled, where there is one. Nothing is masked.
"""

import json
import subprocess
import sys

# The least share of the matrix rate in percent, and the most LDS operations for each matrix instruction.
SHARES = {
    ("gfx1151", 64): (76, 2.5), ("gfx1151", 128): (85, 2.5), ("gfx1151", 256): (82, 2.5),
    ("gfx1100", 64): (76, 2.5), ("gfx1100", 128): (85, 2.5), ("gfx1100", 256): (82, 2.5),
    ("gfx1201", 64): (68, 2.5), ("gfx1201", 128): (79, 2.5), ("gfx1201", 256): (85, 2.5),
    ("gfx942", 64): (100, 1), ("gfx942", 128): (100, 1), ("gfx942", 256): (80, 1),
    ("gfx950", 64): (57, 2), ("gfx950", 128): (100, 2), ("gfx950", 256): (88, 2),
}
# The most cycles of VALU and transcendental instructions for each cycle of the matrix unit.
VECTOR = {("gfx942", 64): 0.9, ("gfx942", 128): 0.5, ("gfx950", 64): 1.7, ("gfx950", 128): 0.8, ("gfx950", 256): 0.55}
# bf16 may be behind f16 by so many percent of the matrix rate, or by so many of those cycles.
BF16 = {"gfx1151": (7, None), "gfx1100": (7, None), "gfx1201": (7, None), "gfx942": (None, 0.15), "gfx950": (None, 0.15)}

def reports(*options):
    command = [sys.argv[1], "report", *options, "--json"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    while text:
        report, end = json.JSONDecoder().raw_decode(text)
        text = text[end:].lstrip()
        yield report


def body(report):
    (loop,) = [loop for loop in report["loops"] if loop["role"] == "body"]
    return loop, loop["ways"][0] if loop["ways"] else loop


failed = False
found = {}


def expect(what, holds, got):
    global failed
    if not holds:
        print(f"{what}; got {got}", file=sys.stderr)
        failed = True


def expect_covered(name, loop):
    """Four waves a SIMD cover every load; fewer need work of the wave's own, which `fmhagen report` weighs."""
    for wait in loop["waits"]:
        if wait["loads"] and wait["kind"] != "scalar":
            expect(f"{name}: expected covered {wait['kind']} loads", wait["covered"], wait)


for report in reports("--arch", ",".join(BF16), "--hd", "64,128,256"):
    name, arch, dim = report["instance"], report["arch"], int(report["instance"].split("_d")[1].split("_")[0])
    loop, way = body(report)
    resources = report["resources"]
    found[arch, dim] = way
    expect(f"{name}: expected no spills and no scratch", resources["spills"] == 0 and resources["scratch_bytes"] == 0, resources)
    waves = 3 if dim == 64 else 2
    expect(f"{name}: expected {waves} waves a SIMD", resources["waves_per_simd"] >= waves, resources["waves_per_simd"])
    rows = int(name.split("_m")[1].split("k")[0])
    expect(f"{name}: expected 64 rows a workgroup", rows >= 64, rows)
    expect_covered(name, loop)
    share, lds = SHARES[arch, dim]
    expect(f"{name}: expected {share} % of the matrix rate", way["bound_percent"] >= share, way["bound_percent"])
    expect(f"{name}: expected {lds} LDS operations for each matrix instruction", way["per_matrix"]["lds"] <= lds, way["per_matrix"]["lds"])
    ratio, most = way["vector_per_matrix_cycle"], VECTOR.get((arch, dim))
    expect(f"{name}: expected {most} vector cycles for each matrix cycle", most is None or ratio <= most, ratio)
expect("expected a report of each", found.keys() == SHARES.keys(), sorted(found))

for report in reports("--arch", ",".join(BF16), "--hd", "64,128", "--dtype", "bf16"):
    name, arch, dim = report["instance"], report["arch"], int(report["instance"].split("_d")[1].split("_")[0])
    f16, way = found[arch, dim], body(report)[1]
    points, ratio = BF16[arch]
    if points is not None:
        behind = f16["bound_percent"] - way["bound_percent"]
        expect(f"{name}: expected {points} points behind f16", behind <= points, behind)
    else:
        behind = way["vector_per_matrix_cycle"] - f16["vector_per_matrix_cycle"]
        expect(f"{name}: expected {ratio} behind f16", behind <= ratio, behind)

# Fewer columns of V than of K; and where rows are padded and V's fours turned so that no two lanes of a read meet in a bank.
for report in reports("--arch", "gfx950", "--hd", "256", "--hd-v", "64,128,192"):
    expect_covered(report["instance"], body(report)[0])
for report in reports("--arch", "gfx950", "--hd", "256", "--run", "--shape", "1,1,1,256,256"):
    counters = report["runs"][0]["counters"]
    expect(f"{report['instance']}: expected no conflicts of LDS banks", counters["lds_cycles"] > 0 and counters["lds_conflict_cycles"] == 0, counters)
sys.exit(failed)
