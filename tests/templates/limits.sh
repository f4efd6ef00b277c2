#!/bin/sh
# What the default kernel may cost in the unmasked body of its loop, counted over every block of it: at most 4 LDS operations and 8
# vector instructions (transcendental ones included) per matrix instruction; and how fast many instances are emitted.
#   limits.sh FMHAGEN
set -eu
fmhagen=$1
"$fmhagen" report --arch gfx1151 --hd 128 --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
(body,) = [loop for loop in report["loops"] if loop["role"] == "body"]
total = body["total"]
valu = (total["valu"] + total["transcendental"]) / total["matrix"]
lds = total["lds"] / total["matrix"]
print(f"{valu:.2f} vector and {lds:.2f} LDS instructions per matrix instruction")
assert total["matrix"] == 32 and valu <= 8 and lds <= 4, total
resources = report["resources"]
assert resources["vgpr_spills"] == 0 and resources["sgpr_spills"] == 0 and resources["scratch_bytes"] == 0, resources
'
