import type { Command } from 'commander';
import { quote } from '../../nodes/quote.ts';
import { grouped, optionsWithValue, type Place, rowsOf } from './table.ts';

/** How a shell writes a word that it offers. */
type Offer = (word: string, description: string) => string;

/**
 * Functions that bash and zsh have in common. Their callers have as locals what they set: `at`, the command that the words lead to;
 * `option`, whose value comes next; `count`, of arguments; and `place` and `found`, what can stand at the cursor.
 */
export function functionsOf(program: Command, offer: Offer): string {
  const rows = rowsOf(program);
  const common = rows[0]?.options ?? [];
  const isCommon = (long: string) => common.some((option) => option.long === long);
  const withWords = rows.filter(({ words }) => words.length > 0);
  const values = rows.flatMap(({ path, options }) =>
    options
      .filter(({ long }) => path === '' || !isCommon(long))
      .map(({ names, place }) => ({
        patterns: names.map((name) =>
          path === '' ? `*' '${quote(name)}` : quote(`${path} ${name}`),
        ),
        result: outcome(place),
      })),
  );
  return `# The command that the word $1 leads to.
_stowage_command() {
    case "$at/$1" in
${cases(
  withWords.flatMap(({ path, words }) =>
    words.map(({ name, names }) => ({
      patterns: names.map((each) => quote(`${path}/${each}`)),
      result: `at=${quote(`${path} ${name}`.trim())}`,
    })),
  ),
)}
        *) return 1 ;;
    esac
}

# Whether the word after the option $1 is its value.
_stowage_takes_value() {
    case $1 in
        ${optionsWithValue(program).join(' | ')}) return 0 ;;
        *) return 1 ;;
    esac
}

# Where words lead.
_stowage_walk() {
    local word ended=''
    for word; do
        if [[ -n $option ]]; then
            option=''
        elif [[ -z $ended && $word == -- ]]; then
            ended=1
        elif [[ -z $ended && $word == -?* ]]; then
            if [[ $word != *=* ]] && _stowage_takes_value "$word"; then option=$word; fi
        elif [[ $count != 0 ]] || ! _stowage_command "$word"; then
            count=$((count + 1))
        fi
    done
    _stowage_ended=$ended
}

# What the value of $option can be.
_stowage_values() {
    case "$at $option" in
${cases(values)}
        *) ${NOTHING} ;;
    esac
}

# What can follow, where it is no option.
_stowage_arguments() {
    case "$at $count" in
${cases(
  rows.flatMap(({ path, words, arguments: args, repeats }) => [
    ...(words.length === 0 || path === 'help'
      ? []
      : [
          {
            patterns: [quote(`${path} 0`)],
            result: `found=(${words.map(({ name, description }) => `\n            ${offer(name, description)}`).join('')})`,
          },
        ]),
    ...args.map((place, index) => ({
      patterns:
        repeats && index === args.length - 1 ? [`${quote(path)}' '*`] : [quote(`${path} ${index}`)],
      result: outcome(place),
    })),
  ]),
)}
        *) ${NOTHING} ;;
    esac
}

# The options of a command.
_stowage_options() {
    found=(${common.map(({ long, description }) => `\n        ${offer(long, description)}`).join('')})
    case $at in
${cases(
  rows.slice(1).map(({ path, options }) => ({
    patterns: [quote(path)],
    result: `found+=(${options
      .filter(({ long }) => !isCommon(long))
      .map(({ long, description }) => `\n            ${offer(long, description)}`)
      .join('')})`,
  })),
)}
    esac
}
`;
}

/** What is so of all that no case tells of. */
const NOTHING = 'place=nothing';

const cases = (all: Parameters<typeof grouped>[0]): string =>
  [...grouped(all.filter(({ result }) => result !== NOTHING))]
    .map(([result, patterns]) => `        ${patterns.join(' | ')}) ${result} ;;`)
    .join('\n');

const outcome = (place: Place): string =>
  typeof place === 'object' ? `found=(${place.words.map(quote).join(' ')})` : `place=${place}`;
