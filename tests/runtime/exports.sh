#!/bin/sh
# What libfmha exports is what fmha.h declares, and nothing that was ever exported is gone: exports.txt only grows.
# What the static one gives to a program's linker begins with fmha_, so that it is in no other's way.
#   exports.sh NM LIBRARY HEADER LIST STATIC-LIBRARY
set -eu
nm=$1 library=$2 header=$3 list=$4 static=$5

"$nm" -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | grep -v '^__\|^_init$\|^_fini$' | LC_ALL=C sort >exported.txt
# A declaration may go over several lines: FMHA_API … name(
tr '\n' ' ' <"$header" | grep -o 'FMHA_API [a-z_ ]*[ *]\(fmha_[a-z_]*\)(' | sed 's/.*[ *]\(fmha_[a-z_]*\)($/\1/' | LC_ALL=C sort >declared.txt
diff declared.txt exported.txt >&2 || {
    echo "exports.sh: libfmha's symbols (>) and the header's functions (<) differ" >&2
    exit 1
}
gone=$(LC_ALL=C comm -23 "$list" exported.txt)
[ -z "$gone" ] || {
    echo "exports.sh: gone, which breaks programs: $gone" >&2
    exit 1
}
new=$(LC_ALL=C comm -13 "$list" exported.txt)
[ -z "$new" ] || {
    echo "exports.sh: add to $list: $new" >&2
    exit 1
}
others=$("$nm" -g --defined-only "$static" | awk 'NF == 3 && $3 !~ /^(fmha_|__odr_asan\.)/ { print $3 }' | LC_ALL=C sort -u)
[ -z "$others" ] || {
    echo "exports.sh: expected names that begin with fmha_ in $static, got:" $others >&2
    exit 1
}
