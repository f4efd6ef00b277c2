#!/bin/sh
# portable.sh FMHAGEN: what is vendored compiles without a warning, as C11 by every C compiler that is here, and its header as
# C++; the embedded files are assembled for x86-64 and for arm64, hidden, read-only and without an executable stack.
set -eu
fmhagen=$(realpath "$1")

root=$(mktemp -d "${TMPDIR:-/tmp}/fmha portable XXXXXX")
trap 'cd /; rm -rf "$root"' EXIT
cd "$root"
fail() { echo "portable.sh: $*" >&2; exit 1; }

"$fmhagen" vendor . --arch gfx1100,gfx1151 --hd 64 --wave 32,64 >/dev/null
newest=$(ls -d /usr/lib/llvm-*/bin/clang 2>/dev/null | sort -V | tail -n 1)
for compiler in gcc clang ${newest:+"$newest"}; do
    command -v "$compiler" >/dev/null || continue
    for file in src/*.c fmha_kernels.c; do
        "$compiler" -std=c11 -Wall -Wextra -Werror -Wno-unknown-warning-option -Wno-format-truncation -D_GNU_SOURCE -I. -Isrc -O1 -fsyntax-only "$file" || fail "$compiler: $file"
    done
    "$compiler" -Wall -Wextra -Werror -I. -Isrc -c fmha_kernels.S -o native.o || fail "$compiler: fmha_kernels.S"
done
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    printf '#include "fmha.h"\nint main() { fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT; return problem.batch != 0; }\n' >header.cpp
    "$compiler" -std=c++11 -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only header.cpp || fail "$compiler: fmha.h"
done

check_object() {
    readelf -SW "$1" | grep -q ' \.note\.GNU-stack .* 0 *0 *1$' || fail "$1: expected a stack that is not executable"
    readelf -sW "$1" | grep '_hip' >symbols
    [ "$(grep -c HIDDEN symbols)" = 8 ] || fail "$1: expected 4 texts that begin and end with hidden symbols"
    readelf -SW "$1" | grep -q ' \.rodata .* A ' || fail "$1: expected read-only data"
}
check_object native.o
if [ -n "$newest" ] && "$newest" --print-targets | grep -q aarch64; then
    "$newest" --target=aarch64-linux-gnu -I. -c fmha_kernels.S -o arm64.o || fail "fmha_kernels.S for arm64"
    check_object arm64.o
fi
"$fmhagen" vendor --check . | grep -v ^unmodified >left || true
printf 'foreign     arm64.o\nforeign     header.cpp\n' | head -n "$([ -f arm64.o ] && echo 2 || echo 0)" | while read -r line; do
    grep -q "$(echo "$line" | tr -s ' ' | cut -d' ' -f2)" left || fail "expected '$line' of vendor --check"
done
