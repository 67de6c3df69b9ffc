import { type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
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
      'create a claim from a snapshot, also from one that another namespace grants. Prompts for missing values on a terminal.',
    )
    .argument('[name]', 'VolumeSnapshot to restore, as [NAMESPACE/]NAME', namespacedName)
    .option('--to <name>', 'claim to create, as [NAMESPACE/]NAME', oneNamespacedName)
    .option(
      '--size <quantity>',
      'size of the claim, such as 10Gi (default: that of the snapshot)',
      quantity,
    )
    .option(
      '--storage-class <name>',
      'storage class of the claim (default: that of the original claim, if you may read it)',
      oneObjectName,
    )
    .option(
      '--access-mode <mode,...>',
      `access modes of the claim: ${ACCESS_MODES.join(', ')} (default: ReadWriteOnce)`,
      accessModes,
    )
    .addOption(
      new Option('--mode <mode>', 'volume mode (default: that of the snapshot)').choices([
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
  addExamples(command, [
    'stowage restore snapshot prod/foo-backup --to prod/foo-restored',
    '# In another namespace, after: stowage grant snapshot prod/foo-backup --to test',
    'stowage restore snapshot prod/foo-backup --to test/foo-testing --storage-class fast',
  ]);
}

/** Parses comma-separated modes of an option that may be repeated; drops duplicates. */
function accessModes(text: string, before: string[] = []): string[] {
  const given = text.split(',');
  const wrong = given.find((mode) => !ACCESS_MODES.includes(mode));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`Allowed choices are ${ACCESS_MODES.join(', ')}.`);
  return [...new Set([...before, ...given])];
}
