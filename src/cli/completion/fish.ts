import type { Command } from 'commander';
import { grouped, optionsWithValue, type Place, rowsOf } from './table.ts';

/** One word of fish: within its single quotes only these two are not themselves. */
const quote = (word: string): string => `'${word.replaceAll(/[\\']/g, '\\$&')}'`;

/** The completions of fish, 3.1 or later. */
export function fishCompletion(program: Command): string {
  const rows = rowsOf(program);
  const common = rows[0]?.options ?? [];
  const isCommon = (long: string) => common.some((option) => option.long === long);
  return `# fish completion for stowage. \`stowage completion fish\` prints it; it is generated from the tree of commands.
# What is offered is data, whoever named it: nothing of it is expanded or run; fish quotes what it puts on the command line.

# The command that the word $argv[2] after the command $argv[1] leads to.
function __stowage_command
    switch "$argv[1]/$argv[2]"
${switchOf(
  rows.flatMap(({ path, words }) =>
    words.map(({ name, names }) => ({
      patterns: names.map((each) => quote(`${path}/${each}`)),
      result: `echo ${quote(`${path} ${name}`.trim())}`,
    })),
  ),
)}
        case '*'
            return 1
    end
end

# Whether the word after the option $argv[1] is its value.
function __stowage_takes_value
    contains -- $argv[1] ${optionsWithValue(program).join(' ')}
end

# What the value of the option $argv[2] of the command $argv[1] can be.
function __stowage_values
    switch "$argv[1] $argv[2]"
${switchOf(
  rows.flatMap(({ path, options }) =>
    options
      .filter(({ long, place }) => (path === '' ? place !== 'nothing' : !isCommon(long)))
      .map(({ names, place }) => ({
        patterns: names.map((name) => quote(path === '' ? `* ${name}` : `${path} ${name}`)),
        result: outcome(place),
      })),
  ),
)}
    end
end

# What can follow the command $argv[1] after $argv[2] arguments, where it is no option.
function __stowage_arguments
    switch "$argv[1] $argv[2]"
${switchOf(
  rows.flatMap(({ path, words, arguments: args, repeats }) => [
    ...(words.length === 0
      ? []
      : [
          {
            patterns: [quote(`${path} 0`)],
            result: offered(words.map(({ name, description }) => [name, description])),
          },
        ]),
    ...args.map((place, index) => ({
      patterns: [quote(repeats && index === args.length - 1 ? `${path} *` : `${path} ${index}`)],
      result: outcome(place),
    })),
  ]),
)}
    end
end

# The options of the command $argv[1].
function __stowage_options
    ${offered(common.map(({ long, description }) => [long, description]))}
    switch $argv[1]
${switchOf(
  rows.slice(1).map(({ path, options }) => ({
    patterns: [quote(path)],
    result: offered(
      options
        .filter(({ long }) => !isCommon(long))
        .map(({ long, description }) => [long, description]),
    ),
  })),
)}
    end
end

# Names of objects, by \`stowage __complete\`.
function __stowage_ask
    command stowage __complete $argv 2>/dev/null | string match --invert --regex '^:'
end

# Words for the token at the cursor; of --option=value with what stands before the value.
function __stowage_complete
    set -l words (commandline -opc)[2..-1]
    set -l current (commandline -ct)
    set -l at ''
    set -l option ''
    set -l ended ''
    set -l count 0
    set -l next
    for word in $words
        if test -n "$option"
            set option ''
        else if test -z "$ended" -a "$word" = --
            set ended 1
        else if test -z "$ended"; and string match --quiet --regex '^-.' -- $word
            if not string match --quiet '*=*' -- $word; and __stowage_takes_value $word
                set option $word
            end
        else if test $count = 0; and set next (__stowage_command "$at" $word)
            set at $next
        else
            set count (math $count + 1)
        end
    end
    set -l before ''
    set -l found
    if test -n "$option"
        set found (__stowage_values "$at" $option)
    else if test -z "$ended"; and string match --quiet --regex '^--[^=]+=' -- $current
        set before (string replace --regex '=.*' '=' -- $current)
        set found (__stowage_values "$at" (string trim --right --chars = -- $before))
    else if test -z "$ended"; and string match --quiet --regex '^-' -- $current
        set found (__stowage_options "$at")
    else
        set found (__stowage_arguments "$at" $count)
    end
    switch "$found"
        case :ask
            set found (__stowage_ask $words $current)
        case :files
            __fish_complete_path (string replace -- "$before" '' $current)
            return
        case :folders
            __fish_complete_directories (string replace -- "$before" '' $current)
            return
    end
    for each in $found
        printf '%s\\n' "$before$each"
    end
end

complete --command stowage --command kubectl-stowage --no-files --arguments '(__stowage_complete)'
`;
}

const switchOf = (all: Parameters<typeof grouped>[0]): string =>
  [...grouped(all.filter(({ result }) => result !== 'true'))]
    .map(([result, patterns]) => `        case ${patterns.join(' ')}\n            ${result}`)
    .join('\n');

const offered = (words: readonly (readonly [word: string, description: string])[]): string =>
  words.length === 0
    ? 'true'
    : `printf '%s\\t%s\\n' ${words.map(([word, description]) => `${quote(word)} ${quote(description)}`).join(' \\\n                ')}`;

const outcome = (place: Place): string => {
  if (place === 'nothing') return 'true';
  return typeof place === 'object'
    ? `printf '%s\\n' ${place.words.map(quote).join(' ')}`
    : `echo :${place}`;
};
