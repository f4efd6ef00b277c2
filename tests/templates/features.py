#!/usr/bin/env python3
"""The features of `fmhagen list --features`: what the table says is run and compiled.

    features.py FMHAGEN verify FAMILY        the sample: exactly the runs that the table names of that family of chips, short ragged shapes
    features.py FMHAGEN compile FAMILY       each feature for one chip of it, head dimension 128 or 256: no spills, no scratch
    features.py FMHAGEN verify-all ARCH      each feature on that chip: formats, devices, orientations, standing cases
    features.py FMHAGEN compile-all ARCH     each feature for it: formats, head dimensions 64, 128 and 256

Each case of the sample runs twice, with the waves in another order: the same bits. Its inputs are random and unbalanced by turns.
"""
import json
import os
import subprocess
import sys

SHAPES = ["1,2,1,40,90", "2,2,1,21,20"]
COMPILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile.sh")


def options(feature, dims):
    words = feature["options"].split()
    return words if any(word.startswith("--hd=") for word in words) else ["--hd", dims] + words


def served(chip):
    return [name for name, format in chip["formats"].items() if format["state"] in ("tested", "long")]


def sample(features, family, fmhagen):
    for index, feature in enumerate(features):
        inputs = ("random", "unbalanced")[index % 2]
        for chip in feature["chips"]:
            if chip["family"] != family:
                continue
            for name, format in chip["formats"].items():
                for run in format.get("runs", []):
                    yield [fmhagen, "verify", "--device", run["device"], "--arch", chip["arch"], "--dtype", name, "--orientation",
                           run["orientation"], *options(feature, "64"), "--schedules", "2", "--inputs", inputs, *(word for shape in SHAPES for word in ("--shape", shape))]


def compiled(features, family, fmhagen):
    for index, feature in enumerate(features):
        chips = [chip for chip in feature["chips"] if chip["family"] == family and served(chip)]
        if chips:
            chip = chips[index % len(chips)]
            formats = served(chip)
            yield [COMPILE, fmhagen, "--arch", chip["arch"], "--dtype", formats[index % len(formats)], *options(feature, ("128", "256")[index // 2 % 2])]


def every(features, arch):
    for feature in features:
        for chip in feature["chips"]:
            if chip["arch"] == arch and served(chip):
                yield feature, ["--arch", arch, "--dtype", ",".join(served(chip))]


def verified_all(features, arch, fmhagen):
    for feature, chip in every(features, arch):
        for device in ("emu", "isa"):
            yield [fmhagen, "verify", "--device", device, *chip, "--orientation", "kq,qk", *options(feature, "64")]


def compiled_all(features, arch, fmhagen):
    for feature, chip in every(features, arch):
        yield [COMPILE, fmhagen, *chip, *options(feature, "64,128,256")]


def main():
    fmhagen, what, which = sys.argv[1:]
    commands = {"verify": sample, "compile": compiled, "verify-all": verified_all, "compile-all": compiled_all}[what]
    listed = subprocess.run([fmhagen, "list", "--features", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    count = failed = 0
    for command in commands(json.loads(listed), which, fmhagen):
        count += 1
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode != 0:
            failed += 1
            print(" ".join(command), done.stdout, sep="\n")
    print(f"{count} commands, {failed} failed")
    return 1 if failed or not count else 0


sys.exit(main())
