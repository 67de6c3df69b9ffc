import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import {
  type NamespacedName,
  namespacedName,
  oneNamespacedName,
  oneObjectName,
} from '../lib/parse.ts';
import { SNAPSHOT_NAMES } from '../lib/resource-names.ts';
import type { CreateSnapshotFlags } from '../snapshots/create.ts';

export default function createSnapshot(create: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_NAMES;
  const command = create
    .command(singular)
    .aliases([plural, ...more])
    .description('create a VolumeSnapshot of a claim')
    .argument('<name>', 'name of the VolumeSnapshot, as [NAMESPACE/]NAME', namespacedName)
    .requiredOption(
      '--pvc <name>',
      'claim to take the snapshot of, in the same namespace',
      oneNamespacedName,
    )
    .option('--class <name>', 'VolumeSnapshotClass (default: the default class)', oneObjectName);
  addWaitOptions(addCreateOptions(command), 'wait until the snapshot is ready').action(
    async (name: NamespacedName, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateSnapshotFlags & GlobalFlags>();
      const { createSnapshot: run } = await import('../snapshots/create.ts');
      const { snapshotNeedsAction } = await import('../why/needs-action.ts');
      await run(name, flags, io, () => connectFor(command, io), snapshotNeedsAction);
    },
  );
  addExamples(command, ['stowage create snapshot prod/foo-backup --pvc foo --wait']);
}
