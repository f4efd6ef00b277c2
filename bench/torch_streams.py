#!/usr/bin/env python3
"""Starting, dispatching and sharing a device, on PyTorch's tensors:

    bench/torch_streams.py                          everything, a little more than a minute
    bench/torch_streams.py --seconds 5 --threads 2

- the first call of a process, with an empty cache (it compiles) and with what that left (it reads), each in a process of its own;
- what a call takes on the host once its kind is known, by the Python binding and by libfmha alone;
- 200 repetitions of one call: the same to the bit;
- threads with a stream each, that call what they like for a minute: every result is what the first call of its kind gave.
docs/python.md says what the binding needs."""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runtime", "python"))

import torch  # noqa: E402

import fmha  # noqa: E402

KINDS = [(dim, dtype, causal) for dim in (64, 128) for dtype in (torch.float16, torch.bfloat16) for causal in (False, True)]


def tensors(seed, dim, dtype, heads=4, length=333):
    generator = torch.Generator("cuda").manual_seed(seed)
    return [torch.randn(2, heads, length, dim, device="cuda", generator=generator).to(dtype) for _ in range(3)]


def first_call():
    """In a process that has a CUDA context and no more. Prints milliseconds."""
    q, k, v = tensors(1, 64, torch.float16)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    fmha.attention(q, k, v)
    torch.cuda.synchronize()
    print((time.perf_counter() - begin) * 1e3)


def start_up(runs):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, FMHA_CACHE_DIR=folder)
        command = [sys.executable, os.path.abspath(__file__), "--first-call"]
        times = [float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
                 for _ in range(1 + runs)]
    print(f"first call of a process: {times[0]:.0f} ms with an empty cache, {min(times[1:]):.1f} ms with a warm one")


def per_call(function, count=2000):
    for _ in range(10):
        function()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count // 5):
            function()
        best = min(best, (time.perf_counter() - begin) / (count // 5))
        torch.cuda.synchronize()
    return best * 1e6


def dispatch():
    q, k, v = tensors(1, 64, torch.float16, heads=1, length=16)
    out = torch.empty_like(q)
    problem, library, device = fmha._Forward(), fmha._library(), fmha._device(q)
    fmha._fill(problem, q, k, v, out, None, False, None, None, {})
    reference = ctypes.byref(problem)
    print(f"a call on the host: {per_call(lambda: fmha.attention(q, k, v, out=out)):.1f} us by the binding, "
          f"{per_call(lambda: library.fmha_forward(device, reference)):.1f} us of fmha_forward with its launch, "
          f"{per_call(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)):.1f} us of torch's own")


def repeat(count=200):
    for dim, dtype, causal in KINDS:
        q, k, v = tensors(2, dim, dtype, length=1111)
        first, lse = fmha.attention(q, k, v, causal=causal, return_lse=True)
        for _ in range(count):
            again, lse_again = fmha.attention(q, k, v, causal=causal, return_lse=True)
            if not torch.equal(first, again) or not torch.equal(lse, lse_again):
                sys.exit(f"WRONG: repetitions of D{dim} {dtype} causal={causal} differ")
    print(f"{count} repetitions of each of {len(KINDS)} kinds: the same to the bit")


def share(threads, seconds):
    expected, calls, errors = {}, [0] * threads, []
    for kind in KINDS:
        for seed in range(threads):
            q, k, v = tensors(seed, kind[0], kind[1])
            expected[kind, seed] = (q, k, v, fmha.attention(q, k, v, causal=kind[2]))
    torch.cuda.synchronize()
    end = time.monotonic() + seconds

    def run(number):
        try:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                while time.monotonic() < end and not errors:
                    kind = KINDS[(calls[number] * 7 + number) % len(KINDS)]
                    q, k, v, result = expected[kind, (calls[number] + number) % threads]
                    if not torch.equal(fmha.attention(q, k, v, causal=kind[2]), result):
                        errors.append(f"thread {number}: {kind} differs after {calls[number]} calls")
                    calls[number] += 1
        except Exception as why:  # noqa: BLE001: told below
            errors.append(f"thread {number}: {why}")

    running = [threading.Thread(target=run, args=(n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if errors:
        sys.exit("WRONG: " + "; ".join(errors))
    print(f"{threads} threads on {threads} streams for {seconds} s: {sum(calls)} calls, no error, no difference")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--first-call", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first_call:
        return first_call()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, libfmha {fmha.version()}")
    start_up(3)
    dispatch()
    repeat()
    share(options.threads, options.seconds)


if __name__ == "__main__":
    main()
