# What planted.sh and planted_caches.sh share; they are given FMHAGEN SOURCE_ROOT [NAME], and end with `exit $failed`.
set -eu
fmhagen=$1
root=$2
only=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
number=0

# Of all faults the words must be there; every fourth one is run, all with FMHA_TEST_LONG.
# plant NAME FILE SED-EXPRESSION OPTIONS: the expression must change the file, and verify must refuse the kernel of $arch.
arch=gfx1151
plant() {
    name=$1 file=$2 expression=$3 options=$4
    [ -z "$only" ] || [ "$only" = "$name" ] || return 0
    rm -rf "$folder/templates"
    cp -R "$root/templates" "$folder/templates"
    sed -i "$expression" "$folder/templates/$file"
    if cmp -s "$root/templates/$file" "$folder/templates/$file"; then
        echo "$name: the templates no longer have the words that are replaced in $file" >&2
        failed=1
        return 0
    fi
    number=$((number + 1))
    [ -n "$only${FMHA_TEST_LONG:-}" ] || [ $((number % 4)) -eq 1 ] || return 0
    status=0
    # shellcheck disable=SC2086 # options are words
    "$fmhagen" verify --arch "$arch" --template-dir "$folder/templates" --fail-fast $options >"$folder/log" 2>&1 || status=$?
    if [ "$status" -eq 1 ] && grep -q '^FAILED' "$folder/log"; then
        echo "$name: refused: $(grep '^    ' "$folder/log" | head -n 1 | cut -c 1-150)"
    else
        echo "$name: not refused (exit status $status)" >&2
        tail -n 5 "$folder/log" >&2
        failed=1
    fi
}

# swap NAME FILE STRIDE OTHER OPTIONS: one of the arguments' strides where another is meant.
swap() {
    plant "$1" "$2" "s/arguments\.stride_$3/arguments.stride_$4/" "$5"
}

# narrow NAME FILE PLACE STRIDE OPTIONS: an offset, the place (an expression of sed) times the stride, in 32 bits.
narrow() {
    plant "$1" "$2" "s/$3 \* arguments\.stride_$4/(int)(&)/" "$5"
}
