import { type Command, Option } from 'commander';
import type { KubeClient } from '../../kube/types.ts';
import { addExamples } from './examples.ts';
import { selectorOption } from './get/get-command.ts';
import { clientFor, type GlobalFlags } from './globals.ts';
import type { Io } from './io.ts';
import type { DeleteClassFlags } from './objects/delete-classes.ts';
import { objectNames } from './parse.ts';

/** Runs the deletion of classes. Calls `connect` only for correct usage. Throws a StowageError. */
export type DeleteClasses = (
  names: readonly string[],
  flags: DeleteClassFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
) => Promise<void>;

/** The command of a kind of classes of `stowage delete`. */
export interface DeleteClassCommand {
  /** The plural, then the name of the command, then more aliases. */
  nouns: readonly [plural: string, singular: string, ...more: string[]];
  description: string;
  /** Plural of the kind in descriptions of options. */
  classes: string;
  examples: readonly string[];
  /** Loaded when the command runs. */
  load(): Promise<DeleteClasses>;
}

/** Adds the command of a kind of classes. */
export function addDeleteClassCommand(remove: Command, io: Io, kind: DeleteClassCommand): void {
  const [plural, singular, ...more] = kind.nouns;
  const command = remove
    .command(singular)
    .aliases([plural, ...more])
    .description(kind.description)
    .argument('[name...]', `names of ${kind.classes}`, objectNames)
    .addOption(selectorOption())
    .option('--all', `delete all ${kind.classes} that Stowage serves`)
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .option('--ignore-not-found', 'succeed if a class does not exist')
    .option('--yes', 'delete without confirmation (never asked for without a terminal)')
    .action(async (names: string[] | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<DeleteClassFlags & GlobalFlags>();
      const deleteClasses = await kind.load();
      await deleteClasses(names ?? [], flags, io, clientFor(command, io));
    });
  addExamples(command, kind.examples);
}
