"""Runs the mutants of a few emitted kernels through `fmhagen verify`: each must be found out, or be explained in survivors.txt.

    run.py FMHAGEN [--sample] [--only TEXT] [--again FILE] [--list] [--jobs N] [--verdicts FILE]

A function that a kernel shares with an earlier one of the list (but for numbers) is mutated there alone, and so is each statement of
the kernel's own function. The exit status is 1 if a mutant
survives without an explanation, or if an explanation explains nothing.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mutate

HERE = Path(__file__).parent
# Small tiles, but two row tiles for each wave and two heads for each workgroup.
TILES = ["--block-m", "64", "--waves", "2", "--gqa", "2"]
KEYS = ["--block-k", "32"]
COMMON = ["--arch", "gfx1151", *TILES, *KEYS]
INSTANCES = {
    "kq": [*COMMON, "--hd", "64", "--causal"],
    "qk": [*COMMON, "--hd", "64", "--causal", "--orientation", "qk"],
    "padded": [*COMMON, "--hd", "72", "--causal", "--q-path", "lds"],
    "padded-qk": [*COMMON, "--hd", "72", "--causal", "--orientation", "qk", "--q-path", "lds"],
    "unmasked": [*COMMON, "--hd", "64"],
    "mfma": ["--arch", "gfx942", *TILES, *KEYS, "--hd", "64", "--causal", "--matrix", "32x32"],
    "mfma-qk": ["--arch", "gfx942", *TILES, *KEYS, "--hd", "64", "--causal", "--matrix", "32x32", "--orientation", "qk"],
    "mfma-blocks": ["--arch", "gfx950", *TILES, "--block-k", "64", "--hd", "64", "--causal", "--matrix", "16x16x32", "--q-path", "lds"],  # not read ahead: by fmha_mma
    "mfma-pairs": ["--arch", "gfx908", *TILES, *KEYS, "--hd", "64", "--causal", "--matrix", "16x16", "--dtype", "bf16"],
    "shifted": ["--arch", "gfx90a", *TILES, *KEYS, "--hd", "64", "--causal", "--matrix", "16x16"],
    "pack": ["--arch", "gfx1151", "--op", "pack"],
    "pack-transposed": ["--arch", "gfx1151", "--op", "pack", "--v-layout", "transposed"],
    "pack-any": ["--arch", "gfx1151", "--op", "pack", "--v-layout", "transposed", "--align", "2"],
}
# Of CDNA's kernels what the atom brings, and what gfx90a's larger weights change: the rest is the text of the kernels above.
ATOM = r"fmha_(mma|mma_block|sum_of|with_sum|turned|natural|row|group_first|gather_operand|swap16|swap32|group_max|group_sum|row_max|row_sum|k_block|v_block) "
CHOSEN = {"mfma": ATOM, "mfma-qk": ATOM, "mfma-blocks": ATOM, "mfma-pairs": ATOM, "shifted": r".*(reference \+ 15\.0f|l \* 0x1p-15f)"}
LIMIT_SECONDS = 120  # of one mutant; the emulated device gives a workgroup up long before
ENVIRONMENT = {
    # Variables that a mutant leaves without a value get the same one each time.
    # Subscripts of private arrays and vectors are looked at as well.
    "FMHA_EMU_CXXFLAGS": "-O0 -ftrivial-auto-var-init=pattern -fsanitize=bounds -fsanitize-trap=bounds",
    "FMHA_EMU_SECONDS": "4",
    "FMHA_EMU_THREADS": "1",
}


def survivors(path):
    """Of survivors.txt: [(pattern, reason)]."""
    reason, lines = None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("    "):
            if reason is None:
                sys.exit(f"{path}:{number}: expected a reason before the first mutant, got {line.strip()!r}; write it on a line of its own")
            lines.append((line.strip(), reason))
        else:
            reason = line.strip()
    return lines


def matches(pattern, name):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("..."))), name) is not None


class Verdict:
    def __init__(self, outcome, detail=""):
        self.outcome, self.detail = outcome, detail


def kind_of(finding):
    word = finding.split(":", 1)[0]
    return word if re.fullmatch(r"[a-z]+(-[a-z]+)+|crash", word) else "wrong result"


def judge(code, out, err):
    if code == 0:
        return Verdict("survived")
    if "does not compile" in err:
        return Verdict("not compilable", err.splitlines()[-1] if err else "")
    if code != 1:
        return Verdict("killed", "crash" if code < 0 else f"exit status {code}")
    try:
        report = json.loads(out)
    except ValueError:
        return Verdict("not run", err.strip() or "no report and no error")
    findings = [finding for case in report["cases"] for finding in case["findings"]]
    if not findings:
        return Verdict("killed", "mean error")
    return Verdict("killed", next((kind for kind in map(kind_of, findings) if kind != "wrong result"), "wrong result"))


def run_one(fmhagen, options, text, folder, number):
    source = Path(folder, f"{number}.hip")
    source.write_text(text)
    command = [fmhagen, "verify", *options, "--source", str(source), "--fail-fast", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS, env={**os.environ, **ENVIRONMENT})
        return judge(done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired:
        return Verdict("killed", "timeout")
    finally:
        source.unlink()


def make_mutants(fmhagen, name, seen):
    """The text of an instance and its mutants, less those of functions that were seen before."""
    text = subprocess.run([fmhagen, "generate", *INSTANCES[name]], check=True, capture_output=True, text=True).stdout
    kernel = re.search(r"FMHA_KERNEL\(\d+\) void (\w+)", text)[1]
    outlines = mutate.outlines(text, kernel).items()
    new = {function for function, outline in outlines if (function, outline) not in seen}
    mutants = [mutant for mutant in mutate.mutants(text, kernel) if mutant.function in new]
    known = {statement for function, statement in seen if function == "kernel"}
    mutants = [mutant for mutant in mutants if mutant.function != "kernel" or mutate.outline(mutant.statement) not in known]
    if name in CHOSEN:
        mutants = [mutant for mutant in mutants if re.match(CHOSEN[name], mutant.name)]
        new = {mutant.function for mutant in mutants}
        outlines = [(function, outline) for function, outline in outlines if function in new]
    seen.update(outlines)
    seen.update(("kernel", mutate.outline(mutant.statement)) for mutant in mutants if mutant.function == "kernel")
    for mutant in mutants:
        mutant.name = f"{name} | {mutant.name}"
    return text, mutants


def choose_sample(work):
    """For each function and each kind of mutation the mutant whose name hashes lowest, so that edits elsewhere change no choice."""
    chosen = {}
    for item in work:
        digest = hashlib.sha256(item[1].name.encode()).digest()
        for key in (("function", item[1].function), ("kind", item[1].kind)):
            if key not in chosen or digest < chosen[key][0]:
                chosen[key] = (digest, item)
    names = {item[1].name for _, item in chosen.values()}
    return [item for item in work if item[1].name in names]


def main():
    parser = argparse.ArgumentParser(description="Runs mutants of emitted kernels through fmhagen verify.")
    parser.add_argument("fmhagen")
    parser.add_argument("--sample", action="store_true", help="a few dozen, one for each function and kind of mutation")
    parser.add_argument("--only", metavar="TEXT", help="mutants whose name holds this text (... stands for any)")
    parser.add_argument("--again", metavar="FILE", help="those alone that survived according to this file of --verdicts, or are not in it")
    parser.add_argument("--list", action="store_true", help="print their names and run none")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--verdicts", metavar="FILE", help="write one line for each mutant: outcome, detail, name")
    options = parser.parse_args()

    explained = survivors(HERE / "survivors.txt")
    work, seen = [], set()
    for name in INSTANCES:
        text, mutants = make_mutants(options.fmhagen, name, seen)
        work += [(INSTANCES[name], mutant, text) for mutant in mutants]
    if options.sample:
        work = choose_sample([item for item in work if not any(matches(pattern, item[1].name) for pattern, _ in explained)])
    if options.only:
        work = [item for item in work if matches(f"...{options.only}...", item[1].name)]
    if options.again:
        lines = [line.split("\t") for line in Path(options.again).read_text().splitlines()]
        settled = {name for outcome, _, name in lines if outcome != "survived"}
        work = [item for item in work if item[1].name not in settled]
    if options.list:
        for item in work:
            print(item[1].name)
        return 0
    with tempfile.TemporaryDirectory(prefix="fmha_mutation_") as folder:
        for arguments, text in {item[2]: (item[0], item[2]) for item in work}.values():
            verdict = run_one(options.fmhagen, arguments, text, folder, "whole")
            if verdict.outcome != "survived":
                sys.exit(f"fmhagen verify {' '.join(arguments)}: expected the kernel as it is to pass, got: {verdict.outcome} {verdict.detail}")
        return report(options, work, explained, run_all(options, work, folder))


def run_all(options, work, folder):
    began, verdicts = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run_one, options.fmhagen, item[0], item[1].apply(item[2]), folder, number) for number, item in enumerate(work)]
        for number, job in enumerate(jobs, 1):
            verdicts.append(job.result())
            if options.verdicts:
                with open(options.verdicts, "w" if number == 1 else "a") as file:
                    file.write(f"{verdicts[-1].outcome}\t{verdicts[-1].detail}\t{work[number - 1][1].name}\n")
            if sys.stderr.isatty():
                print(f"\r\033[K[{number}/{len(jobs)}] {work[number - 1][1].name[:90]}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(f"{len(work)} mutants in {time.monotonic() - began:.0f} s")
    return verdicts


def report(options, work, explained, verdicts):
    names = [item[1].name for item in work]
    for (outcome, detail), count in sorted(collections.Counter((v.outcome, v.detail if v.outcome == "killed" else "") for v in verdicts).items()):
        print(f"{count:6} {outcome}{': ' + detail if detail else ''}")
    alive = [name for verdict, name in zip(verdicts, names) if verdict.outcome == "survived"]
    unexplained = [name for name in alive if not any(matches(pattern, name) for pattern, _ in explained)]
    stale = []
    if not options.sample and not options.only and not options.again:
        dead = [name for verdict, name in zip(verdicts, names) if verdict.outcome == "killed"]
        for pattern, _ in explained:
            if not any(matches(pattern, name) for name in alive):
                stale.append(f"explains no survivor: {pattern}")
            for name in dead:
                if matches(pattern, name):
                    stale.append(f"explains one that was found out: {pattern} ({name})")
    not_run = [(verdict.detail, name) for verdict, name in zip(verdicts, names) if verdict.outcome == "not run"]
    for detail, name in not_run:
        print(f"NOT RUN {name}\n{detail}")
    for name in unexplained:
        print(f"SURVIVED {name}")
    for line in stale:
        print(f"STALE {line}")
    if unexplained:
        print("add a case to gen/standing.c that finds it out, or the reason why it cannot matter to tests/mutation/survivors.txt")
    if stale:
        print("mend tests/mutation/survivors.txt")
    return 1 if unexplained or stale or not_run else 0


if __name__ == "__main__":
    sys.exit(main())
