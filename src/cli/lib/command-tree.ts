import type { Command, Option } from 'commander';

/** The words that lead to a command, without the program's own; '' for the program. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

/** The kinds of a verb, or the verbs: not the command that stands for a verb without a kind (`create -f`). */
export const wordsOf = (command: Command): readonly Command[] =>
  command.commands.filter((inner) => inner.name() !== 'manifest');

/** What a verb does without a kind, if it does anything. */
const withoutKind = (command: Command): readonly Command[] =>
  command.commands.filter((inner) => inner.name() === 'manifest');

/** The options that a command takes: its own, help, and those that all commands take. */
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

/** Every command, the program first. */
export const allCommands = (command: Command): Command[] => [
  command,
  ...wordsOf(command).flatMap((inner) => allCommands(inner)),
];

/** Whether the word after an option is its value. */
export const takesValue = (option: Option): boolean => option.required;
