#!/bin/sh
# From a source tree to somebody's program: configures with an instance library, installs below a DESTDIR into a prefix with a space in it,
# moves that to where it was meant to be and then elsewhere, and builds programs with pkg-config and CMake that compute attention.
#   install.sh SOURCE
set -eu
source=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir "a tmp"
TMPDIR="$folder/a tmp" FMHA_CACHE_DIR="$folder/a cache"
export TMPDIR FMHA_CACHE_DIR
unset FMHA_LIBRARY_PATH FMHA_DRIVER_DIR FMHA_HIPCC FMHA_HOST_CXX LD_LIBRARY_PATH DESTDIR
fail() { echo "$*" >&2; exit 1; }

# Options that do not go together are refused when the tree is configured.
refused() {
    wanted=$1
    shift
    if meson setup refused "$source" -Dtests=false "$@" >refused.log 2>&1; then fail "meson setup $*: expected it to be refused"; fi
    grep -q "$wanted" refused.log || { cat refused.log >&2; fail "meson setup $*: expected $wanted"; }
    rm -rf refused
}
refused "expected -Dpreset or -Dhead_dims beside it, got neither" -Darchs=gfx1151
refused "expected -Darchs beside them, got none" -Dpreset=minimal

prefix="$folder/a prefix"
meson setup "a build" "$source" --prefix "$prefix" -Dtests=false -Dbuildtype=plain -Dwarning_level=0 -Dlibrary_jobs=2 \
    -Darchs=gfx1151,gfx1100 -Dpreset=llm-inference -Dhead_dims=64 -Ddtypes=f16 -Dmasks=bottom-right >setup.log 2>&1 || { cat setup.log >&2; exit 1; }
ninja -C "a build" >build.log 2>&1 || { tail -n 40 build.log >&2; exit 1; }
grep -q "gfx1151: 68 instances: 68 compiled" build.log || fail "expected 68 instances of gfx1151: $(grep instances build.log)"
ninja -C "a build" | grep -q "gfx1151: 68 instances: 0 compiled, 68 as before" || fail "a second build: expected it to compile nothing"

DESTDIR="$folder/a stage" meson install -C "a build" >install.log 2>&1 || { cat install.log >&2; exit 1; }
staged="$folder/a stage$prefix"
[ -d "$staged" ] && [ ! -e "$prefix" ] || fail "DESTDIR: expected everything below it"
pc=$(cd "$staged" && find . -name fmha.pc)
libdir=${pc#./} # lib, or what the system has in its place
libdir=${libdir%/pkgconfig/fmha.pc}
for file in bin/fmhagen include/fmha.h $libdir/libfmha.so $libdir/libfmha.a $libdir/libfmha_emu.so $libdir/pkgconfig/fmha.pc \
    $libdir/cmake/fmha/fmhaConfig.cmake $libdir/cmake/fmha/fmhaConfigVersion.cmake $libdir/fmha/gfx1151/fmha.index \
    $libdir/fmha/gfx1100/fmha.index share/man/man1/fmhagen.1 share/man/man3/fmha.3; do
    [ -e "$staged/$file" ] || fail "expected $file to be installed"
done
[ ! -e "$staged/$libdir/fmha/build.ninja" ] || fail "expected no build.ninja to be installed"
if grep -rlF "$folder" "$staged/$libdir/pkgconfig" "$staged/$libdir/cmake" "$staged/$libdir/fmha" "$staged/include"; then
    fail "expected no path of this machine in these"
fi

# try WHERE: the installation in WHERE serves programs.
try() {
    lib="$1/$libdir"
    rm -rf "$FMHA_CACHE_DIR"
    expected="$lib/fmha
fmha_forward_gfx1151_f16_d64_causal_m64k32w4
0 wrong"
    said() { [ "$2" = "$expected" ] || fail "$1: expected
$expected
got
$2"; }
    found=$(PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --cflags --libs fmha)
    eval "cc -Wall -Wextra -Werror '$here/installed/attention.c' $found -lm -o attention"
    said "pkg-config" "$(LD_LIBRARY_PATH="$lib" ./attention)"
    instances=$(eval "cd $(PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --variable=instancesdir fmha) && pwd -P")
    [ "$instances" = "$lib/fmha" ] || fail "instancesdir: expected $lib/fmha, got $instances"
    "$1/bin/fmhagen" verify --arch gfx1151 --hd 64 --shape 1,1,1,8,8 >verify.log || { cat verify.log >&2; fail "expected the installed fmhagen to verify"; }
    if ! command -v cmake >/dev/null; then
        echo "skipped: there is no cmake here"
        return
    fi
    rm -rf "a cmake"
    cmake -S "$here/installed" -B "a cmake" -DCMAKE_PREFIX_PATH="$1" >cmake.log 2>&1 &&
        cmake --build "a cmake" >>cmake.log 2>&1 || { cat cmake.log >&2; fail "expected CMake to find and build it"; }
    grep -q "^-- instances: $lib/fmha\$" cmake.log || { cat cmake.log >&2; fail "fmha_INSTANCES_DIR: expected $lib/fmha"; }
    said "CMake" "$("a cmake/with_fmha")"
    said "CMake, static" "$(FMHA_LIBRARY_PATH="$lib/fmha" FMHA_DRIVER_DIR="$lib" "a cmake/with_fmha_static")"
    # Another series, before or after, and a later version of this one are not this one.
    for version in 1.0 0.99 0.0.9 0.1.99; do
        rm -rf "a cmake"
        if cmake -S "$here/installed" -B "a cmake" -DWANTED=$version -DCMAKE_PREFIX_PATH="$1" >cmake.log 2>&1; then
            fail "find_package(fmha $version): expected it to be refused"
        fi
    done
}
mv "$staged" "$prefix"
try "$prefix"
mv "$prefix" "$folder/moved elsewhere"
rm -rf "a build" # nothing may come from there
try "$folder/moved elsewhere"
echo "installed, moved, and used by pkg-config and CMake"
