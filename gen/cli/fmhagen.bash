# Completion of fmhagen for bash. The words come from `fmhagen help --completion`, so that they are those of the
# installed version.

_fmhagen_files() {
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
    compopt -o filenames 2>/dev/null
}

_fmhagen() {
    local program=$1 current=$2 command=generate option joined='' kind words list=''
    # Readline makes '=' a word of its own: --causal = top-left
    if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        current='' joined=yes option=${COMP_WORDS[COMP_CWORD - 1]}
    elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
        joined=yes option=${COMP_WORDS[COMP_CWORD - 2]}
    else
        option=${COMP_WORDS[COMP_CWORD - 1]}
    fi
    case $option in
    -o) option=--output ;;
    -j) option=--jobs ;;
    esac
    COMPREPLY=()
    if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" help --completion 2>/dev/null)" -- "$current")
        return
    fi
    ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]] && command=${COMP_WORDS[1]}
    read -r _ kind words < <("$program" help --completion "$command" 2>/dev/null | grep -e "^$option ")
    if [[ $kind == '=' || ($kind == '?' && $joined) ]]; then
        case $option in
        --modifier | --output | --source | --template-dir)
            _fmhagen_files "$current"
            return
            ;;
        --arch) words=$("$program" list --arch 2>/dev/null | grep -o '^gfx[^ ]*') ;;
        esac
        [[ $current == *,* ]] && list=${current%,*},
        mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${current##*,}")
    elif [[ $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" help --completion 2>/dev/null)" -- "$current")
    elif [[ $command == report && $current != -* ]]; then
        _fmhagen_files "$current"
    else
        mapfile -t COMPREPLY < <(compgen -W "$("$program" help --completion "$command" 2>/dev/null | sed 's/ .*//')" \
            -- "$current")
    fi
}

complete -F _fmhagen fmhagen
