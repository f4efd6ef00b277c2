#!/bin/sh
# Instances that compile for their chip without spills and scratch; `fmhagen build` refuses the others.
#   compile.sh FMHAGEN OPTION...
set -eu
fmhagen=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
expected=$("$fmhagen" list "$@" | wc -l)
"$fmhagen" build "$@" -o "$folder" >"$folder/log" 2>&1 || { grep -v VGPR, "$folder/log" >&2; exit 1; }
objects=$(find "$folder" -name '*.hsaco' | wc -l)
[ "$objects" -eq "$expected" ] || { echo "expected $expected code objects, got $objects" >&2; exit 1; }
echo "$objects instances: no spills, no scratch"
