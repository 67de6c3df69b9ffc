import type { Command } from 'commander';
import { TreeCommand } from './tree-command.ts';

/**
 * Adds examples to the help of a command, and to its manual page.
 * @param lines command lines; a line that starts with `#` is a comment on the next ones
 */
export function addExamples(command: Command, lines: readonly string[]): void {
  if (!(command instanceof TreeCommand)) throw new TypeError(`${command.name()} has no examples`);
  command.examples = lines;
  const text = lines.map((line) => `  ${line}\n`).join('');
  command.addHelpText('after', `\nExamples:\n${text}\nGlobal options: stowage --help`);
}

/** Returns the examples of a command, as they were added; none for other commands. */
export const examplesOf = (command: Command): readonly string[] =>
  command instanceof TreeCommand ? command.examples : [];
