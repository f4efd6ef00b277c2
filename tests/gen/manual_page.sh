#!/bin/sh
# The manual's page has every command and option of the program's own help: those of a command in its synopsis, those of
# kernels in the text.
#   manual_page.sh FMHAGEN PAGE
set -eu
fmhagen=$1 page=$2
lacks=$(mktemp)
trap 'rm -f "$lacks"' EXIT

# Forms of the options in a part of the help, those of one option in a line: "-o --output", "--hd".
options() {
    sed -n "/^$1/,/^\$/s/^  \(\(-[a-z], \)\{0,1\}--[a-z-]*\).*/\1/p" | sed 's/,//' | grep -v -e '--help' -e '--version'
}

# Whether a text has one of the forms as .Fl.
has() {
    text=$1
    shift
    for form; do
        printf '%s\n' "$text" | grep -q -e "Fl ${form#-}\( \|\$\)" && return
    done
    return 1
}

commands=$("$fmhagen" --help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p')
[ "$(printf '%s\n' "$commands" | wc -l)" -ge 11 ] || { echo "expected all commands in --help, got: $commands" >&2; exit 1; }
for command in $commands; do
    synopsis=$(awk -v command="$command" '/^\.Sh DESCRIPTION/ { exit }
        /^\.Nm/ { mine = 0 } /Cm [a-z]/ && !/Op Fl/ { if ($0 ~ "Cm " command "( |$)") mine = 1 } mine' "$page")
    [ -n "$synopsis" ] || echo "'$command' in the synopsis"
    "$fmhagen" "$command" --help | options 'Options of this command' | while read -r forms; do
        # shellcheck disable=SC2086 # several forms
        has "$synopsis" $forms || echo "'$forms' in the synopsis of '$command'"
    done
done >"$lacks"
text=$(cat "$page")
for part in 'What the kernel computes' 'How it computes it'; do
    "$fmhagen" build --help | options "$part" | while read -r forms; do
        # shellcheck disable=SC2086
        has "$text" $forms || echo "'$forms' among the kernel options"
    done
done >>"$lacks"
[ -s "$lacks" ] || exit 0
sed "s|\(.*\)|$page: expected \1, got none: add it|" "$lacks" >&2
exit 1
