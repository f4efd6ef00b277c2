#!/bin/sh
# Prints, as a Markdown table, what each macro that steers the compiler is worth: the defaults of gfx1151 with each of them emptied in
# turn. $FMHAGEN is the program (fmhagen). The figures are modelled from the compiled code; nothing is measured.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/device"

# Writes the prelude in which the macros of that name, for the chip, do nothing.
empty() {
    sed -E "s/^(#define FMHA_($1)\((x?|arguments)\)) (__asm__|__builtin|\(\*).*/\1 $2/" \
        "$here/../templates/device/prelude.hip" >"$folder/device/prelude.hip"
}

row() {
    printf '| %s |' "$1"
    for orientation in kq qk; do
        "${FMHAGEN:-fmhagen}" report --arch gfx1151 --hd 128 --causal --orientation $orientation --template-dir "$folder" --json |
            python3 -c '
import json, sys
report = json.load(sys.stdin)
resources = report["resources"]
body = next(loop for loop in report["loops"] if loop["role"] == "body")
print("", resources["vgpr"], "|", resources["sgpr"], "|", resources["vgpr_spills"], "|", body["per_matrix"]["valu"], "|",
      body["bound_percent"], "% |", end="")'
    done
    echo
}

echo '| gfx1151, f16, D = 128, causal | kq: VGPR | SGPR | spilled | VALU/WMMA | bound | qk: VGPR | SGPR | spilled | VALU/WMMA | bound |'
echo '|---|---|---|---|---|---|---|---|---|---|---|'
empty NONE ''
row 'as it is'
empty SCHEDULE_FENCE '((void)0)'
row 'without FMHA_SCHEDULE_FENCE'
empty 'OPAQUE|OPAQUE_UNIFORM' '((void)0)'
row 'without FMHA_OPAQUE, FMHA_OPAQUE_UNIFORM'
empty ARGUMENTS_AGAIN '(arguments)'
row 'without FMHA_ARGUMENTS_AGAIN'
