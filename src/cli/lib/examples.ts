import type { Command } from 'commander';
import { allCommands, pathOf, wordsOf } from './command-tree.ts';
import { TreeCommand } from './tree-command.ts';

/**
 * Adds examples to the help of a command, and to its manual page.
 * @param lines command lines; a line that starts with `#` is a comment on the next ones
 */
export function addExamples(command: Command, lines: readonly string[]): void {
  if (!(command instanceof TreeCommand)) throw new TypeError(`${command.name()} has no examples`);
  command.examples = lines;
  const text = lines.map((line) => `  ${line}`).join('\n');
  // The program's own help lists the global options.
  const more = command.parent === null ? '' : '\n\nGlobal options: stowage --help';
  command.addHelpText('after', `\nExamples:\n${text}${more}`);
}

/** Number of commands of a verb from which its help has an example. */
const SHOWN = 2;

/**
 * Adds the first examples of commands to the help of the program, and those of its first kinds to
 * the help of each verb. To be called once all commands are complete.
 * @param paths commands whose examples the program has
 */
export function addGroupExamples(program: Command, paths: readonly string[]): void {
  for (const verb of program.commands.filter(({ commands }) => commands.length > 0))
    addExamples(verb, wordsOf(verb).slice(0, SHOWN).flatMap(firstExample));
  const chosen = allCommands(program).filter((command) => paths.includes(pathOf(command)));
  addExamples(program, chosen.flatMap(firstExample));
}

/** Returns the first example of a command, after its comments. */
function firstExample(command: Command): readonly string[] {
  const lines = examplesOf(command);
  return lines.slice(0, lines.findIndex((line) => !line.startsWith('#')) + 1);
}

/** Returns the examples of a command, as they were added; none for other commands. */
export const examplesOf = (command: Command): readonly string[] =>
  command instanceof TreeCommand ? command.examples : [];
