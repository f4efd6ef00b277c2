#!/usr/bin/env python3
"""Bytes of a cache that one workgroup reads for each key, counted by the emulated device.

    bytes.py FMHAGEN TENSOR=BYTES... OPTIONS...

All rows of the shapes fit one workgroup, and their keys are whole tiles: then no byte is asked for twice.
"""
import json
import subprocess
import sys

fmhagen, rest = sys.argv[1], sys.argv[2:]
wanted = {}
while rest and not rest[0].startswith('-'):
    tensor, number = rest.pop(0).split('=')
    wanted[tensor] = int(number)
ran = subprocess.run([fmhagen, 'verify', '--count', '--json', '--inputs', 'random', *rest], capture_output=True, text=True)
if ran.returncode:
    sys.exit(ran.stdout + ran.stderr)
failed = False
for case in json.loads(ran.stdout)['cases']:
    keys = case['shape'][0] * case['shape'][4]
    for tensor, number in wanted.items():
        counted = case['counters']['tensors'][tensor]
        for what in 'bytes_read', 'unique_bytes_read':
            per_key = counted[what] / keys
            print(f"{case['shape']}: {what} of {tensor}: {per_key:g} for each key")
            if per_key != number:
                print(f'expected {number}', file=sys.stderr)
                failed = True
sys.exit(failed)
