import type { Command } from 'commander';
import { quote } from '../../nodes/quote.ts';
import { functionsOf } from './functions.ts';

/** The completions of bash, 4.2 or later; the package bash-completion is not needed. */
export const bashCompletion = (program: Command): string => `# shellcheck shell=bash
# bash completion for stowage. \`stowage completion bash\` prints it; it is generated from the tree of commands.
# What is offered is data, whoever named it: nothing of it is expanded or run, here or once it is on the command line.

${functionsOf(program, (word) => quote(word))}
# Names of objects, by \`stowage __complete\`.
_stowage_ask() {
    local program line
    program=$(type -P stowage || type -P -- "\${words[0]}") || return
    found=()
    while IFS= read -r line; do
        case $line in
            :*) if ((\${line#:} & 2)); then compopt -o nospace 2>/dev/null; fi ;;
            *) found+=("\${line%%$'\\t'*}") ;;
        esac
    done < <("$program" __complete "\${words[@]:1}" "$cur" 2>/dev/null)
}

# The words up to the cursor, to \`words\`, and what is there of the last one, to \`cur\`: readline takes words apart at = and :.
_stowage_split() {
    local rest=\${COMP_LINE:0:COMP_POINT} piece trimmed i
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        trimmed=\${rest#"\${rest%%[![:space:]]*}"}
        piece=\${COMP_WORDS[i]}
        if ((\${#piece} > \${#trimmed})); then piece=$trimmed; fi
        if [[ $i == 0 || $trimmed != "$rest" || -z $piece ]]; then
            words+=("$piece")
        else
            words[\${#words[@]} - 1]+=$piece
        fi
        rest=\${trimmed#"$piece"}
    done
    cur=\${words[\${#words[@]} - 1]}
    unset 'words[\${#words[@]} - 1]'
}

_stowage() {
    local words=() cur='' at='' option='' count=0 place=words found=() each start breaks cut _stowage_ended=''
    COMPREPLY=()
    _stowage_split
    _stowage_walk "\${words[@]:1}"
    start=$cur
    if [[ -n $option ]]; then
        _stowage_values
    elif [[ -z $_stowage_ended && $cur == --*=* ]]; then
        option=\${cur%%=*} start=\${cur#*=}
        _stowage_values
    elif [[ -z $_stowage_ended && $cur == -* ]]; then
        _stowage_options
    else
        _stowage_arguments
    fi
    case $place in
        ask) _stowage_ask ;;
        files | folders)
            if [[ $place == folders ]]; then compopt -o dirnames 2>/dev/null; else compopt -o default 2>/dev/null; fi
            return
            ;;
    esac
    # Readline puts in only what comes after the last character of the word that takes words apart: =, : and @, where nobody changed that.
    # An @ it leaves in the word (bash's rl_special_prefixes).
    breaks=\${COMP_WORDBREAKS//[!=:@,+.]/} cut=''
    if [[ -n $breaks ]]; then cut=\${cur%"\${cur##*["$breaks"]}"} cut=\${cut%@}; fi
    for each in "\${found[@]}"; do
        if [[ $each == "$start"* ]]; then
            each=\${cur%"$start"}$each
            each=\${each#"$cut"}
            if [[ $each == *[!a-zA-Z0-9._/,:@=+-]* ]]; then printf -v each %q "$each"; fi
            COMPREPLY+=("$each")
        fi
    done
}

complete -F _stowage stowage kubectl-stowage
`;
