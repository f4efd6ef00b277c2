#!/usr/bin/env python3
"""In kq on gfx12 and CDNA the weights P never leave their lanes, as the disassembly shows.

    weights.py FMHAGEN SOURCE_ROOT

Of each kernel the unmasked loop is read. The data flow by register numbers shows which matrix instructions are of the second product (their B
comes from exponentials) and how P becomes their operand:

- what writes an operand register is the instruction that packs two weights, or two that round one each; a move of what is packed would stand in its place;
- two exponentials alone lie behind it, with nothing but roundings in lane between;
- lanes tell one another the maximum and nothing else, and only between the products, as often as exchanges() says for a tile of rows;
- no store takes a weight, and none to LDS between the products takes a score: what is written there is the next tile.

Moves must be found in gfx11's kernels, whose operands hold all of a column in each lane group, and in templates that were given one move each.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# What moves values between lanes. DPP is not always in the mnemonic.
CROSS_LANE = re.compile(r"v_permlane|v_(read|write)(first)?lane|ds_(b?permute|swizzle)")
DPP = re.compile(r"_dpp\b|quad_perm:|row_|wave_|dpp8:")
STORE = re.compile(r"(ds_(write|store)|(global|buffer|scratch|flat)_(store|atomic))")
LDS_STORE = re.compile(r"ds_(write|store)")
MATRIX = re.compile(r"v_(wmma|mfma|smfmac|swmmac)_")
# One weight to a half of a register, rounded; the other half is kept.
MIX = re.compile(r"v_fma_mix(lo|hi)_f16$")
# Two weights to a register, of two roundings or of two exponentials.
PACK = re.compile(r"v_(pack_b32_f16|perm_b32|cvt_pk_\w*|cvt_pkrtz_f16_f32|and_or_b32|lshl_or_b32|or_b32)(_e32|_e64|_sdwa)?$")
# float32 to a 16-bit type, of one weight or of two side by side.
ROUND = re.compile(r"v_(cvt_f16_f32|bfe_u32|add3_u32|lshrrev_b32|and_b32|pk_fma_f32)(_e32|_e64|_sdwa)?$")
EXPONENTIAL = re.compile(r"v_exp_f32(_e32|_e64)?$")
REGISTERS = re.compile(r"\b([va])(?:(\d+)(?:\.([lh])\b)?|\[(\d+):(\d+)\])")


def registers(text):
    """Halves of the vector registers that operands name."""
    for kind, one, half, first, last in REGISTERS.findall(text):
        for number in range(int(one or first), int(last or one) + 1):
            for each in half or "lh":
                yield kind, number, each


class Instruction:
    """One instruction, or a half of a dual-issued pair: `reads` has where each half register was written, None before the loop."""

    def __init__(self, text):
        self.text = text
        self.name, _, rest = text.partition(" ")
        # A lane that DPP leaves out, and what a product is added to, is the destination's old value.
        first, _, others = rest.partition(",")
        swaps = "swap" in self.name
        exchange = others.split(",")[0] if swaps else ""
        kept = re.match(r"v_(dual_|pk_)?f?mac_|v_dot\d+c_|v_writelane", self.name) or self.crosses_by_dpp() or swaps
        self.writes = [] if STORE.match(self.name) else list(registers(first + " " + exchange))
        if "UNUSED_PRESERVE" in rest or "_d16" in self.name:
            half = "h" if "dst_sel:WORD_1" in rest or "_d16_hi" in self.name else "l"
            self.writes = [place for place in self.writes if place[2] == half]
        elif MIX.match(self.name):
            self.writes = [place for place in self.writes if place[2] == MIX.match(self.name)[1][0]]
        self.takes = list(registers(others if self.writes and not kept else rest))
        self.operands = rest.split(", ")
        self.reads = {}

    def crosses_by_dpp(self):
        return bool(self.name.startswith("v_") and DPP.search(self.text))

    def crosses_lanes(self):
        return bool(CROSS_LANE.match(self.name)) or self.crosses_by_dpp()

    def of_operand(self, number):
        """What wrote the registers of an operand, each once."""
        return {id(self.reads[place]): self.reads[place] for place in registers(self.operands[number])}.values()


def flow(lines):
    written, instructions = {}, []
    for line in lines:
        halves = [Instruction(half) for half in line.split(" :: ")]
        for half in halves:
            half.reads = {place: written.get(place) for place in half.takes}
        for half in halves:
            written.update(dict.fromkeys(half.writes, half))
        instructions += halves
    return instructions


def behind(instruction):
    """All that an instruction's operands come from within a pass, back to exponentials."""
    found, waiting = {}, [instruction]
    while waiting:
        for source in waiting.pop().reads.values():
            if source and id(source) not in found:
                found[id(source)] = source
                if not EXPONENTIAL.match(source.name):
                    waiting.append(source)
    return list(found.values())


def exponentials(instruction):
    return [source for source in behind(instruction) if EXPONENTIAL.match(source.name)]


def findings(lines, lanes, tiles, weights):
    """What is wrong with a loop, in words; lanes: the exchanges of a tile of rows, tiles of them, each lane with so many weights."""
    wrong = []
    instructions = flow(lines)
    place = {id(instruction): number for number, instruction in enumerate(instructions)}
    products = [instruction for instruction in instructions if MATRIX.match(instruction.name)]
    second = [product for product in products
              if any(source and (EXPONENTIAL.match(source.name) or exponentials(source)) for source in product.of_operand(2))]
    first = [product for product in products if id(product) not in map(id, second)]
    if not first or not second:
        return [f"expected two products, got {len(first)} matrix instructions without weights and {len(second)} with them"]
    begin, end = max(place[id(product)] for product in first), min(place[id(product)] for product in second)
    if begin > end:
        wrong.append(f"expected the first product before the second, got {instructions[begin].text} after {instructions[end].text}")

    packed, used, room = {}, {}, 0
    for product in second:
        for source in product.of_operand(2):
            if source:
                packed[id(source)] = source
            else:
                wrong.append(f"expected all of P from this pass, got {product.text}")
    for source in packed.values():
        halves = 1 if MIX.match(source.name) else 2
        if halves == 2 and not PACK.match(source.name):
            wrong.append(f"P is moved: {source.text}")
        for step in behind(source):
            if EXPONENTIAL.match(step.name):
                used[id(step)] = step
            elif not ROUND.match(step.name):
                wrong.append(f"between weight and operand: {step.text}")
        if len(exponentials(source)) != halves:
            wrong.append(f"expected {halves} of a register's two weights, got {len(exponentials(source))}: {source.text}")
        room += halves
    if len(used) != weights or room != weights:
        wrong.append(f"expected {weights} weights in {weights} halves of registers, got {len(used)} in {room}")

    told = [instruction for instruction in instructions if instruction.crosses_lanes()]
    names = [instruction.name.removesuffix("_e32") for instruction in told]
    if sorted(names) != sorted(lanes * tiles):
        wrong.append(f"expected {lanes * tiles} to cross lanes, got {names}")
    for exchange in told:
        if place[id(exchange)] > end or not any(MATRIX.match(source.name) for source in behind(exchange)):
            wrong.append(f"lanes are crossed, and not between the products: {exchange.text}")
        readers = [reader for reader in instructions if any(source is exchange for source in reader.reads.values())]
        if exponentials(exchange) or not readers or not all(reader.name.startswith(("v_max", "v_dual_max")) for reader in readers):
            wrong.append(f"lanes are crossed, and not by the maximum: {exchange.text}")
    for number, instruction in enumerate(instructions):
        if STORE.match(instruction.name) and any(id(source) in used for source in behind(instruction)):
            wrong.append(f"weights are stored: {instruction.text}")
        elif LDS_STORE.match(instruction.name) and begin < number < end and any(MATRIX.match(source.name) for source in behind(instruction)):
            wrong.append(f"scores are stored: {instruction.text}")
    return list(dict.fromkeys(wrong))


def objdump():
    """The highest llvm-objdump-N, else llvm-objdump."""
    found = [name for folder in os.get_exec_path() if os.path.isdir(folder) for name in os.listdir(folder) if re.fullmatch(r"llvm-objdump-\d+", name)]
    return max(found, key=lambda name: int(name.rpartition("-")[2]), default="llvm-objdump")


def body(fmhagen, file):
    """The instructions of the unmasked loop, in order; of a pass that leaves out no block."""
    report = json.loads(subprocess.run([fmhagen, "report", file, "--json"], check=True, capture_output=True, text=True).stdout)
    (loop,) = (loop for loop in report["loops"] if loop["role"] == "body")
    # In the order of a pass, which begins where the loop is entered, wherever the compiler put its blocks.
    order = loop["ways"][-1]["blocks"] if loop["ways"] else [block["label"] for block in loop["blocks"]]
    # A code object does not tell objdump the wave, on which the number of a WMMA's registers depends.
    wave = ["--mattr=+wavefrontsize64"] if report["wave"] == 64 else []
    command = [objdump(), "-d", "--no-show-raw-insn", "--symbolize-operands", *wave, file]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    label, blocks = "", {each: [] for each in order}
    for line in text.splitlines():
        named = re.match(r"(?:[0-9a-f]+ )?<(\w+)>:", line)
        if named:
            label = named[1]
        elif line.startswith("\t"):
            instruction = " ".join(line.partition("//")[0].split())
            blocks.get(label, []).append(instruction)
            if re.match(r"s_c?branch", instruction):
                label += "+"
    lines = [line for each in order for line in blocks[each]]
    expected = loop["total"]["matrix"]
    got = sum(bool(MATRIX.match(line)) for line in lines)
    assert got == expected, f"{file}: expected the {expected} matrix instructions of the report, got {got}"
    return lines


def exchanges(arch, wave, matrix):
    """How lanes tell one another the maximum of a tile of rows."""
    if not arch.startswith("gfx9"):
        return ["v_permlanex16_b32"] + ["v_permlane64_b32"] * (wave == 64)
    near, far = ("v_permlane16_swap_b32", "v_permlane32_swap_b32") if arch == "gfx950" else ("ds_swizzle_b32", "ds_bpermute_b32")
    return [far] if matrix == "32x32" else [near, far]


def examine(fmhagen, file):
    """Findings of a kernel, whose file's name tells its tile."""
    arch, matrix, rows, keys, waves = re.search(r"_(gfx\w+?)_b?f16_.*?(?:_(32x32|16x16x32))?_m(\d+)k(\d+)w(\d+)", file).groups()
    wave = 64 if "_wave64" in file else 32
    rows_of_wave = int(rows) // int(waves)
    tiles = rows_of_wave // (32 if matrix == "32x32" else 16)
    return findings(body(fmhagen, file), exchanges(arch, wave, matrix), tiles, int(keys) * rows_of_wave // wave)


# What must be found in gfx11's kernels, which gather P from the lane groups.
GATHERED = ["P is moved: v_", "between weight and operand: v_permlanex16_b32", "expected ['v_permlanex16_b32'] to cross lanes"]
# Templates with one fault each, the options of the kernel it is in, and what must be found.
GATHER = "        all[i] = own[i];"
FAULTS = [
    ("exchange-wave32", ["--arch", "gfx1201"], "atoms/wmma_gfx12.hip", GATHER, "        all[i] = fmha_swap16(own[i]);", "P is moved: v_permlanex16_b32"),
    ("exchange-swizzle", ["--arch", "gfx942", "--matrix", "16x16"], "atoms/mfma.hip", GATHER, "        all[i] = fmha_swap16(own[i]);", "P is moved: ds_swizzle_b32"),
    ("dpp", ["--arch", "gfx90a"], "atoms/mfma.hip", GATHER, "        all[i] = (u32)__builtin_amdgcn_update_dpp((int)own[i], (int)own[i], 0xb1, 15, 15, true);",
     "P is moved: v_mov_b32_dpp"),
    ("move", ["--arch", "gfx942"], "atoms/mfma.hip", GATHER, '        __asm__ volatile("v_mov_b32 %0, %1" : "=v"(all[i]) : "v"(own[i]));', "P is moved: v_mov_b32"),
    ("unpacked", ["--arch", "gfx1201"], "ops/forward_kq.hip", "own[i] = $(packed);",
     "own[i] = fmha_pack(__builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, (float)weight[i].x))), weight[i].y);", "between weight and operand: v_permlanex16_b32"),
    ("scores", ["--arch", "gfx942"], "ops/forward_kq.hip", "    fmha_next_tiles(keys, tile, tiles, full, masked, broken);",
     "    ((float *)keys.k_lds)[keys.lane] = s[0][0][0];\n    fmha_next_tiles(keys, tile, tiles, full, masked, broken);", "scores are stored: ds_write_b32"),
    ("sum", ["--arch", "gfx1201"], "ops/forward_kq.hip", "rows.l[r] += sum.x + sum.y;", "rows.l[r] += fmha_group_sum(sum.x + sum.y);",
     "lanes are crossed, and not by the maximum: v_permlanex16_b32"),
]


def main():
    fmhagen, root = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        def build(name, *options):
            """Builds kernels; returns their files."""
            made = subprocess.run([fmhagen, "build", *options, "-o", f"{folder}/{name}"], capture_output=True, text=True)
            assert made.returncode == 0, made.stderr + made.stdout
            return sorted(f"{folder}/{name}/{file}" for file in os.listdir(f"{folder}/{name}") if file.endswith(".hsaco"))

        def build_fault(fault):
            name, options, file, before, after, _ = fault
            templates = f"{folder}/templates-{name}"
            shutil.copytree(f"{root}/templates", templates)
            with open(f"{templates}/{file}", "r+", encoding="utf-8") as template:
                text = template.read()
                assert before in text, f"{file} no longer has {before}"
                template.seek(0)
                template.write(text.replace(before, after))
                template.truncate()
            return build(name, "-j", "1", "--hd", "64", "--template-dir", templates, *options)

        both = ["--dtype", "f16,bf16"]
        kept = build("rdna", "--arch", "gfx1201", "--wave", "32,64", "--hd", "128", *both)
        kept += build("cdna", "--arch", "gfx908,gfx90a,gfx942,gfx950", "--matrix", "16x16,32x32", "--hd", "64", *both)
        kept += build("deep", "--arch", "gfx950", "--matrix", "16x16x32", "--hd", "64", *both)
        assert len(kept) == 4 + 16 + 2, kept
        for file in kept:
            for wrong in examine(fmhagen, file):
                print(f"{os.path.basename(file)}: {wrong}", file=sys.stderr)
                failed = True

        with ThreadPoolExecutor(2) as pool:
            found_out = [("gfx11", build("gathered", "--arch", "gfx1151", "--hd", "64", *both), GATHERED)]
            found_out += [(fault[0], files, [fault[-1]]) for fault, files in zip(FAULTS, pool.map(build_fault, FAULTS))]
        for name, files, beginnings in found_out:
            for file in files:
                wrong = examine(fmhagen, file)
                for beginning in beginnings:
                    found = [each for each in wrong if each.startswith(beginning)]
                    if found:
                        print(f"{name}: found: {found[0]}")
                    else:
                        print(f"{name}: expected '{beginning} ...', got {wrong}", file=sys.stderr)
                        failed = True
    if not failed:
        print(f"{len(kept)} kernels: P stays in its lanes")
    return failed


if __name__ == "__main__":
    sys.exit(main())
