# shellcheck shell=bash
# bash completion for stowage, printed by `stowage completion bash`. Requires bash 4.2 or later; the
# package bash-completion is optional.
# Nothing in the output of `stowage __complete` is expanded or run, here or on the command line.

_stowage() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() next piece cur start breaks cut='' program line i
    COMPREPLY=()
    # Readline splits at = and :. Adjacent pieces form one argument; the last ends at the cursor.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        next=${rest#"${rest%%[![:space:]]*}"}
        piece=${COMP_WORDS[i]}
        if ((${#piece} > ${#next})); then piece=$next; fi
        if [[ $i == 0 || $next != "$rest" || -z $piece ]]; then words+=("$piece"); else words[${#words[@]} - 1]+=$piece; fi
        rest=${next#"$piece"}
    done
    cur=${words[${#words[@]} - 1]} start=$cur
    # For --option=value, completes the value.
    if [[ $cur == --*=* ]]; then start=${cur#*=}; fi
    # Readline replaces only the text after the last break character (by default =, : or @). An @
    # stays part of that text (bash's rl_special_prefixes).
    breaks=${COMP_WORDBREAKS//[!=:@,+.]/}
    if [[ -n $breaks ]]; then cut=${cur%"${cur##*["$breaks"]}"} cut=${cut%@}; fi
    program=$(type -P stowage || type -P -- "${words[0]}") || return
    while IFS= read -r line; do
        case $line in
            :0) compopt -o default 2>/dev/null ;;
            :6) compopt -o nospace 2>/dev/null ;;
            :*) ;;
            "$start"*)
                line=${cur%"$start"}${line%%$'\t'*}
                line=${line#"$cut"}
                if [[ $line == *[!a-zA-Z0-9._/,:@=+-]* ]]; then printf -v line %q "$line"; fi
                COMPREPLY+=("$line")
                ;;
        esac
    done < <("$program" __complete "${words[@]:1}" 2>/dev/null)
}

complete -F _stowage stowage kubectl-stowage
