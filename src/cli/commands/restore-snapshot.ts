import { type Command, InvalidArgumentError, Option } from 'commander';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import {
  type NamespacedName,
  namespacedName,
  oneNamespacedName,
  oneObjectName,
  quantity,
} from '../lib/parse.ts';
import { SNAPSHOT_NAMES } from '../lib/resource-names.ts';
import type { Given } from '../snapshots/restore/wizard.ts';

const ACCESS_MODES = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany'];

export default function restoreSnapshot(restore: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_NAMES;
  const command = restore
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'create a claim that starts from a snapshot, of another namespace as well, if that grants it. What is missing is asked for on a terminal.',
    )
    .argument('[name]', 'the VolumeSnapshot, as [NAMESPACE/]NAME', namespacedName)
    .option('--to <name>', 'the claim to create, as [NAMESPACE/]NAME', oneNamespacedName)
    .option(
      '--size <quantity>',
      'size of the claim, such as 10Gi (default: that of the snapshot)',
      quantity,
    )
    .option(
      '--storage-class <name>',
      'class of the claim (default: that of the claim that the snapshot is of, if you may read it)',
      oneObjectName,
    )
    .option(
      '--access-mode <mode,...>',
      `of ${ACCESS_MODES.join(', ')} (default: ReadWriteOnce)`,
      accessModes,
    )
    .addOption(
      new Option('--mode <mode>', 'what a pod gets (default: as the snapshot has it)').choices([
        'Filesystem',
        'Block',
      ]),
    );
  addWaitOptions(addCreateOptions(command), 'wait until the claim is bound').action(
    async (name: NamespacedName | undefined, _flags, command: Command) => {
      const flags = { ...command.optsWithGlobals<Given>(), name };
      const { restore: run } = await import('../snapshots/restore/restore.ts');
      const { claimNeedsAction } = await import('../why/needs-action.ts');
      await run(flags, command, io, () => connectFor(command, io), claimNeedsAction);
    },
  );
}

/** Parses comma-separated modes of an option that may be repeated; drops duplicates. */
function accessModes(text: string, before: string[] = []): string[] {
  const given = text.split(',');
  const wrong = given.find((mode) => !ACCESS_MODES.includes(mode));
  if (wrong !== undefined) throw new InvalidArgumentError(`There are ${ACCESS_MODES.join(', ')}.`);
  return [...new Set([...before, ...given])];
}
