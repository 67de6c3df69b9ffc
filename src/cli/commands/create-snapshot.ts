import type { Command } from 'commander';
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
    .description('take a snapshot of what a claim has')
    .argument('<name>', 'name of the VolumeSnapshot, as [NAMESPACE/]NAME', namespacedName)
    .requiredOption('--pvc <name>', 'the claim, in the same namespace', oneNamespacedName)
    .option('--class <name>', 'VolumeSnapshotClass (default: the default one)', oneObjectName);
  addWaitOptions(addCreateOptions(command), 'wait until it can be restored from').action(
    async (name: NamespacedName, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateSnapshotFlags & GlobalFlags>();
      const { createSnapshot: run } = await import('../snapshots/create.ts');
      const { snapshotNeedsAction } = await import('../why/needs-action.ts');
      await run(name, flags, io, () => connectFor(command, io), snapshotNeedsAction);
    },
  );
}
