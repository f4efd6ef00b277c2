#!/usr/bin/env python3
"""Times libfmha beside the back ends of torch's scaled_dot_product_attention: the same tensors, one process, rounds in which
every back end runs once, in an order of its own; medians. Every result is compared with float32 arithmetic first.

    bench/torch_attention.py                      forward: D 64 and 128, f16 and bf16, full and causal, 1k, 4k, 16k
    bench/torch_attention.py --decode             decoding: batch 1 to 64, 32k keys, four query heads a key head
    bench/torch_attention.py --heads 16 --dim 128 --length 4096 --batch 4 --dtype f16 --json results.json

TFLOP/s count 4 * batch * heads * length^2 * dim operations, half of them when causal; GB/s of decoding count K and V once. The card's
clocks and temperature are read after each row. docs/python.md says what the binding needs.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runtime", "python"))

import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

import fmha  # noqa: E402

TORCH = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
MATH_BYTES = 16 << 30  # of scores, above which the unfused back end is left out


def card():
    """Clocks and temperature as nvidia-smi says them, "" where it is not."""
    query = "--query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw"
    try:
        return subprocess.run(["nvidia-smi", query, "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=10).stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return ""


class Timer:
    """Microseconds of one run of a captured graph, or of a function where it cannot be captured."""

    def __init__(self, function, launches):
        self.function, self.launches, self.samples = function, launches, []
        self.events = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def run(self):
        self.events[0].record()
        for _ in range(self.launches):
            self.function()
        self.events[1].record()
        self.events[1].synchronize()
        self.samples.append(self.events[0].elapsed_time(self.events[1]) * 1e3 / self.launches)


def launches_of(function):
    """So many that a sample takes about two milliseconds; graphs hide what Python takes between short ones."""
    for _ in range(3):
        function()
    timer = Timer(function, 3)
    timer.run()
    return max(1, min(100, int(2000 / max(timer.samples[0], 1e-3))))


def graphed(function, launches):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            function()
    return graph.replay


def medians(functions, rounds, warmup, seed):
    """Interleaved: a clock that changes meanwhile changes for all."""
    timers = {}
    for name, function in functions.items():
        launches = launches_of(function)
        timers[name] = Timer(graphed(function, launches), 1), launches
    order, shuffle = list(timers), random.Random(seed).shuffle
    for _ in range(rounds + warmup):
        shuffle(order)
        for name in order:
            timers[name][0].run()
    return {name: [s / launches for s in timer.samples[warmup:]] for name, (timer, launches) in timers.items()}


def error(out, q, k, v, causal, heads):
    """Of the first and the last 128 rows of two heads, against float32, as a norm over that of the result."""
    worst = 0.0
    rows, keys = q.shape[2], k.shape[2]
    for h in heads:
        for first in {0, max(0, rows - 128)}:
            last = min(rows, first + 128)
            qh, kh, vh = q[0, h, first:last].double(), k[0, h // (q.shape[1] // k.shape[1])].double(), v[
                0, h // (q.shape[1] // k.shape[1])].double()
            scores = qh @ kh.T * q.shape[-1] ** -0.5
            if causal:
                seen = torch.arange(keys, device=q.device)[None, :] <= torch.arange(first, last, device=q.device)[
                    :, None] + keys - rows
                scores = scores.masked_fill(~seen, -torch.inf)
            reference = scores.softmax(-1) @ vh
            got = out[0, h, first:last].double()
            worst = max(worst, ((got - reference).norm() / reference.norm()).item())
    return worst


def sdpa(backend, q, k, v, causal):
    def call():
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    return call


def candidates(options, q, k, v, causal, ours):
    """What runs here; what does not is named with the reason."""
    functions, errors = {}, {}
    for name in options.backends:
        if name == "math" and 4 * q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] > MATH_BYTES:
            errors[name] = "left out: its scores need too much memory"
            continue
        function = ours if name == "fmha" else sdpa(TORCH[name], q, k, v, causal)
        try:
            out = function()
            torch.cuda.synchronize()
        except (RuntimeError, torch.cuda.OutOfMemoryError) as why:
            errors[name] = str(why).splitlines()[0]
            continue
        distance = error(out, q, k, v, causal, (0, q.shape[1] - 1))
        if not distance < 2e-2:
            errors[name] = f"WRONG: its distance from float32 arithmetic is {distance:.3g}"
            continue
        functions[name] = function
        errors[name] = distance
        del out
    return functions, errors


def measure(options, row, q, k, v, causal, ours, amount, unit):
    functions, notes = candidates(options, q, k, v, causal, ours)
    samples = medians(functions, options.rounds, options.warmup, options.seed)
    results = {}
    for name in options.backends:
        if name not in samples:
            results[name] = {"note": notes[name]}
            continue
        median = statistics.median(samples[name])
        results[name] = {"us": median, "us_least": min(samples[name]), "us_most": max(samples[name]),
                         unit: amount / median / 1e6 if unit == "tflops" else amount / median / 1e3,
                         "distance": notes[name]}
    row["results"], row["card"] = results, card()
    cells = [f"{results[n][unit]:9.1f}" if unit in results[n] else f"{'-':>9}" for n in options.backends]
    print(f"{row['name']:<34}" + "".join(cells), flush=True)
    for name in options.backends:
        if "note" in results[name]:
            print(f"    {name}: {results[name]['note']}", flush=True)
    return row


def forward(options):
    shapes = [(options.batch or max(1, 16384 // n), options.heads or 2048 // d, n, d)
              for d in options.dim for n in options.length]
    print(f"{'forward, TFLOP/s':<34}" + "".join(f"{n:>9}" for n in options.backends))
    for batch, heads, length, dim in shapes:
        for dtype in options.dtype:
            q, k, v = (torch.randn(batch, length, heads, dim, device="cuda", dtype=DTYPES[dtype]).transpose(1, 2)
                       for _ in range(3))
            for causal in options.causal:
                name = f"{dtype} B{batch} H{heads} S{length} D{dim}{' causal' if causal else ''}"
                row = {"name": name, "batch": batch, "heads": heads, "length": length, "dim": dim, "dtype": dtype,
                       "causal": causal}
                amount = 4.0 * batch * heads * length * length * dim * (0.5 if causal else 1.0)
                yield measure(options, row, q, k, v, causal, lambda c=causal: fmha.attention(q, k, v, causal=c), amount,
                              "tflops")


def copy_rate(options):
    """GB/s of a device-to-device copy, read and written bytes counted."""
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    samples = medians({"copy": lambda: target.copy_(source)}, options.rounds, options.warmup, options.seed)["copy"]
    return 2 * source.numel() / statistics.median(samples) / 1e3


def decode(options):
    rate = copy_rate(options)
    print(f"device-to-device copy: {rate:.0f} GB/s")
    print(f"{'decoding, GB/s of K and V':<34}" + "".join(f"{n:>9}" for n in options.backends))
    heads = options.heads or 32
    keys = options.length[0] if options.length_given else 32768
    for batch in [options.batch] if options.batch else [1, 2, 4, 8, 16, 32, 64]:
        for dim in options.dim[-1:]:
            for dtype in options.dtype:
                q = torch.randn(batch, heads, 1, dim, device="cuda", dtype=DTYPES[dtype])
                k, v = (torch.randn(batch, heads // 4, keys, dim, device="cuda", dtype=DTYPES[dtype]) for _ in range(2))
                name = f"{dtype} B{batch} H{heads}/{heads // 4} keys {keys} D{dim}"
                row = {"name": name, "batch": batch, "heads": heads, "length": keys, "dim": dim, "dtype": dtype,
                       "copy_gbs": rate}
                yield measure(options, row, q, k, v, False, lambda: fmha.decode(q, k, v), 2.0 * k.numel() * 2, "gbs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--decode", action="store_true", help="one query against a long cache")
    parser.add_argument("--batch", type=int, help="default: as many as make 16384 rows")
    parser.add_argument("--heads", type=int, help="default: 2048 / dim; of --decode 32, and 8 of K and V")
    parser.add_argument("--length", type=int, nargs="+")
    parser.add_argument("--dim", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--causal", type=int, nargs="+", choices=[0, 1], default=[0, 1])
    parser.add_argument("--backends", nargs="+", choices=["fmha", *TORCH], default=["fmha", *TORCH])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="a file for all figures")
    options = parser.parse_args()
    options.causal = [bool(c) for c in options.causal]
    options.length_given = options.length is not None
    options.length = options.length or [1024, 4096, 16384]
    torch.manual_seed(options.seed)
    about = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda or torch.version.hip,
        "cudnn": torch.backends.cudnn.version(),
        "fmha": fmha.version(),
        "rounds": options.rounds,
        "command": " ".join(sys.argv),
        "card": card(),
    }
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    rows = list(decode(options) if options.decode else forward(options))
    print(f"card afterwards: {card()}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"about": about, "rows": rows}, file, indent=1)
    return 1 if any(str(r.get("note", "")).startswith("WRONG") for row in rows for r in row["results"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
