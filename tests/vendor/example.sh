#!/bin/sh
# example.sh KIND FMHAGEN SOURCE EMU [SANITIZERS]: copies examples/KIND into a folder whose name holds a blank, vendors into it,
# builds it with the tool of its kind, kernels compiled on first use and then ahead, and runs it on the emulated gfx1151.
set -eu
kind=$1 fmhagen=$(realpath "$2") source=$(realpath "$3") emu=$(realpath "$4") sanitizers=${5:-none}

root=$(mktemp -d "${TMPDIR:-/tmp}/fmha example XXXXXX")
trap 'cd /; rm -rf "$root"' EXIT
fail() { echo "example.sh: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*" >&2; exit 77; }

cp -r "$source/examples/$kind" "$root/project"
cd "$root/project"
export FMHA_DRIVER_DIR="$emu" FMHA_CACHE_DIR="$root/cache" HOME="$root/home"
unset FMHA_HIPCC FMHA_LIBRARY_PATH FMHA_LOG FMHA_DUMP XDG_CACHE_HOME MAKEFLAGS MAKELEVEL CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
CC=${CC:-cc} CXX=${CXX:-c++}
export CC CXX
flags=
if [ "$sanitizers" != none ]; then # the emulated device is built with them and loads into no other program
    flags="-g -fsanitize=$sanitizers -fno-sanitize-recover=all"
fi

case $kind in
makefile-c) tool=make options='--arch gfx1151 --hd 64 --causal' ;;
meson) tool=meson options='--arch gfx1151 --hd 64 --dtype bf16' ;;
cmake-cpp) tool=cmake options='--arch gfx1151 --hd 64 --dtype bf16 --causal' ;;
*) fail "expected an example, got '$kind'" ;;
esac
command -v $tool >/dev/null || skip "$tool is not here"

# vendor OPTION...: writes the folder and sees that it is as it was made.
vendor() {
    "$fmhagen" vendor third_party/fmha "$@" >/dev/null
    "$fmhagen" vendor --check third_party/fmha >/dev/null || fail "the folder is not as it was just made"
}

# build FOLDER [AHEAD]: $program and $library are then what was built; AHEAD is the compiler, or empty.
build() {
    case $kind in
    makefile-c) program=./attention library=$1/libfmha.a ;;
    *) program=$1/attention library=$1/third_party/fmha/libfmha.a ;;
    esac
    "build_$tool" "$@" >"$root/log" 2>&1 || { cat "$root/log" >&2; fail "it does not build"; }
}
build_make() {
    make -j2 CFLAGS="-O1 -Wall -Wextra -Werror $flags" LDFLAGS="$flags" FMHA_BUILD="$1" FMHA_HIPCC="${2:-}"
}
build_meson() {
    [ -d "$1" ] || CFLAGS=$flags LDFLAGS=$flags meson setup "$1" -Dwerror=true -Dcompile_ahead="$([ "${2:-}" ] && echo on || echo off)" &&
        ninja -C "$1" -j2
}
build_cmake() {
    [ -d "$1" ] || CFLAGS="-Wall -Wextra -Werror $flags" CXXFLAGS="-Werror $flags" LDFLAGS=$flags cmake -S . -B "$1" \
        -DFMHA_COMPILE_AHEAD="$([ "${2:-}" ] && echo AUTO || echo OFF)" &&
        cmake --build "$1" -j2
}

# embedded [NAME]: as the program embedded.c that is linked with $library.
embedded() {
    # shellcheck disable=SC2086 # a list of flags
    $CC $flags -Ithird_party/fmha/src "$source/tests/vendor/embedded.c" "$library" -ldl -lpthread -o "$root/embedded"
    "$root/embedded" "$@"
}

# shellcheck disable=SC2086 # a list of options
vendor $options
name=$(ls third_party/fmha/kernels/*.hip) name=${name##*/} name=${name%.hip}

build build-first
embedded >"$root/names"
printf 'fmha.index\n%s.hip\n' "$name" | cmp - "$root/names" || fail "expected these embedded files alone"
"$program" emu:gfx1151
[ -n "$(ls -A "$root/cache")" ] || fail "expected the kernel in the cache after its first use"

# The text of a kernel that is not here is not found, and the message says what there is.
if "$program" emu:gfx1100 >"$root/log" 2>&1; then
    fail "expected no instance for gfx1100"
fi
grep -q FMHA_ERROR_NO_INSTANCE "$root/log" || { cat "$root/log" >&2; fail "expected FMHA_ERROR_NO_INSTANCE"; }

# What is vendored anew is built anew.
# shellcheck disable=SC2086
vendor $options --align 16,2
build build-first
[ "$(embedded | wc -l)" = 3 ] || fail "expected a second kernel after vendoring it"
"$program" emu:gfx1151
# shellcheck disable=SC2086
vendor $options

# A compiler that is none is refused, with words, and leaves no code object.
export FMHA_HIPCC=/bin/false
case $kind in
makefile-c) ! build_make build-none /bin/false ;;
meson) ! build_meson build-none on ;;
cmake-cpp) ! cmake -S . -B build-none -DFMHA_COMPILE_AHEAD=ON ;;
esac >"$root/log" 2>&1 || fail "expected no build with /bin/false as the compiler"
[ $kind = makefile-c ] || tr -s ' \n' ' ' <"$root/log" | grep -q 'fmha: no compiler for the kernels: expected hipcc of ROCm 6 or later, or clang++ 19 or later, that knows the chips of this folder, looked at /bin/false;' || { cat "$root/log" >&2; fail "expected other words"; }
[ -z "$(find build-none -name '*.hsaco')" ] || fail "expected no code object of /bin/false"
unset FMHA_HIPCC

# Ahead: the same bytes as fmhagen makes with the same compiler.
# shellcheck disable=SC2086
"$fmhagen" build $options --json -o "$root/built" >"$root/built.json" 2>"$root/log" ||
    { cat "$root/log" >&2; skip "kernels are not compiled ahead: no compiler for them is here"; }
compiler=$(sed -n 's/.*"compiler_path":[[:space:]]*"\(.*\)".*/\1/p' "$root/built.json")
[ -x "$compiler" ] || fail "expected the compiler's path in what build --json prints"
build build-ahead "$compiler"
embedded "$name.hsaco" | cmp - "$root/built/$name.hsaco" || fail "expected the code object of fmhagen build"
"$program" emu:gfx1151
"$fmhagen" vendor --check third_party/fmha >/dev/null || fail "building left something in the vendored folder"
