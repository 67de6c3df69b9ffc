import type { Command } from 'commander';
import { quote } from '../../nodes/quote.ts';
import { functionsOf } from './functions.ts';

/** As _describe takes it: a colon ends the word. */
const described = (word: string, description: string): string =>
  quote(`${word.replaceAll(':', '\\:')}:${description}`);

/** The completions of zsh, for a folder of $fpath, or to be read by \`source\`. */
export const zshCompletion = (program: Command): string => `#compdef stowage kubectl-stowage
# zsh completion for stowage. \`stowage completion zsh\` prints it; it is generated from the tree of commands.
# What is offered is data, whoever named it: nothing of it is expanded or run; zsh quotes what it puts on the command line.

${functionsOf(program, described)}
# Names of objects, by \`stowage __complete\`.
_stowage_ask() {
    local line word program=stowage tab=$'\\t'
    (( $+commands[stowage] )) || program=\${(Q)words[1]}
    found=()
    for line in "\${(@f)$(command "$program" __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)typed}" 2>/dev/null)}"; do
        case $line in
            '') ;;
            :*) (( \${line#:} & 2 )) && nospace=(-S '') ;;
            *)
                word=\${\${line%%$tab*}//:/\\\\:}
                if [[ $line == *$tab* ]]; then found+=("$word:\${line#*$tab}"); else found+=("$word"); fi
                ;;
        esac
    done
}

_stowage() {
    local at='' option='' count=0 place=words typed=$PREFIX _stowage_ended=''
    local -a found nospace
    _stowage_walk "\${(@Q)words[2,CURRENT-1]}"
    if [[ -n $option ]]; then
        _stowage_values
    elif [[ -z $_stowage_ended && $PREFIX == --*=* ]]; then
        option=\${PREFIX%%=*}
        compset -P '*='
        _stowage_values
    elif [[ -z $_stowage_ended && $PREFIX == -* ]]; then
        _stowage_options
    else
        _stowage_arguments
    fi
    case $place in
        ask) _stowage_ask ;;
        files) _files && return ;;
        folders) _files -/ && return ;;
    esac
    (( \${#found} )) && _describe -t words 'word' found "\${nospace[@]}"
}

if [[ \${funcstack[1]} == _stowage ]]; then
    _stowage "$@"
else
    compdef _stowage stowage kubectl-stowage
fi
`;
