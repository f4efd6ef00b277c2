#!/usr/bin/env python3
"""With --prio matrix a wave is of higher priority while it multiplies matrices and at no other time, as the disassembly shows.

    priority.py FMHAGEN SOURCE_ROOT

Of each kernel a pass of the unmasked loop is read: two stretches between s_setprio 1 and s_setprio 0 hold all matrix instructions, and no exponential and no
barrier. Without the option there is no s_setprio. In templates that raise the priority and leave it so this must be found out.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True # nothing is left beside the sources
from weights import EXPONENTIAL, MATRIX, body

PRIORITY = re.compile(r"s_setprio (0x)?(\d+)$")


def levels(lines):
    return [int(found[2]) for found in map(PRIORITY.match, lines) if found]


def findings(lines):
    """What is wrong with a loop, in words."""
    got = levels(lines)
    if got not in ([1, 0, 1, 0], [0, 1, 0, 1]):
        return [f"priorities: expected 1 and 0 around two products, got {got}"]
    level, wrong = got[-1], [] # as the pass before left it
    for line in lines:
        changed, name = PRIORITY.match(line), line.partition(" ")[0]
        if changed:
            level = int(changed[2])
        elif MATRIX.match(name) and level == 0:
            wrong.append(f"at priority 0: {name}")
        elif (EXPONENTIAL.match(name) or name.startswith("s_barrier")) and level == 1:
            wrong.append(f"at priority 1: {name}")
    return wrong


def main():
    fmhagen, root = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        def build(name, *options):
            subprocess.run([fmhagen, "build", "-j", "1", "--hd", "64", *options, "-o", f"{folder}/{name}"], check=True, capture_output=True)
            return [f"{folder}/{name}/{file}" for file in sorted(os.listdir(f"{folder}/{name}")) if file.endswith(".hsaco")]

        kernels = build("kq", "--arch", "gfx1151,gfx942", "--prio", "matrix") + build("qk", "--arch", "gfx1201", "--orientation", "qk", "--prio", "matrix")
        for file in kernels:
            for wrong in findings(body(fmhagen, file)):
                print(f"{os.path.basename(file)}: {wrong}", file=sys.stderr)
                failed = True
        for file in build("none", "--arch", "gfx942"):
            if levels(body(fmhagen, file)):
                print(f"{os.path.basename(file)}: expected no s_setprio", file=sys.stderr)
                failed = True

        shutil.copytree(f"{root}/templates", f"{folder}/templates")
        with open(f"{folder}/templates/ops/forward_kq.hip", "r+", encoding="utf-8") as template:
            text = template.read()
            without = re.sub(r"//% *forward\.priority\(0\)\n", "", text)
            assert without != text
            template.seek(0)
            template.write(without)
            template.truncate()
        for file in build("raised", "--arch", "gfx942", "--prio", "matrix", "--template-dir", f"{folder}/templates"):
            wrong = findings(body(fmhagen, file))
            print(f"raised: found: {wrong[:1]}")
            if wrong != ["priorities: expected 1 and 0 around two products, got [1, 1]"]:
                print(f"raised: expected to find two priorities, got {wrong}", file=sys.stderr)
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
