import type { Command, Option } from 'commander';

/** Returns the names that lead to a command, without the program's own; '' for the program. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

/** Commands of a verb for no kind (`create -f`), and for several (`get KIND,KIND`). */
const NO_KINDS: ReadonlySet<string> = new Set(['manifest', 'several']);

/** Returns the kinds of a verb, or the verbs; not the commands for no kind or several. */
export const wordsOf = (command: Command): readonly Command[] =>
  command.commands.filter((inner) => !NO_KINDS.has(inner.name()));

/** Returns the command of a verb without a kind, if there is one. */
const withoutKind = (command: Command): readonly Command[] =>
  command.commands.filter((inner) => inner.name() === 'manifest');

/** Returns the options that a command takes: its own, help, and the global ones. */
export function optionsOf(command: Command): Option[] {
  const help = command.createHelp();
  return [
    ...withoutKind(command).flatMap((inner) => inner.options),
    ...help.visibleOptions(command),
    ...ancestorsOf(command).flatMap(({ options }) => options.filter((option) => !option.hidden)),
  ].filter((option, index, all) => all.findIndex(({ long }) => long === option.long) === index);
}

const ancestorsOf = ({ parent }: Command): Command[] =>
  parent === null ? [] : [parent, ...ancestorsOf(parent)];

/** Returns every command, the program first. */
export const allCommands = (command: Command): Command[] => [
  command,
  ...wordsOf(command).flatMap((inner) => allCommands(inner)),
];

/** Reports whether the argument after an option is its value. */
export const takesValue = (option: Option): boolean => option.required;
