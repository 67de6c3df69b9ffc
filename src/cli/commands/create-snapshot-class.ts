import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions } from '../lib/objects/flags.ts';
import { objectName } from '../lib/parse.ts';
import { SNAPSHOT_CLASS_NAMES } from '../lib/resource-names.ts';
import type { CreateSnapshotClassFlags } from '../snapshots/create-class.ts';

export default function createSnapshotClass(create: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_CLASS_NAMES;
  const command = create
    .command(singular)
    .aliases([plural, ...more])
    .description('create a VolumeSnapshotClass of Stowage')
    .argument('<name>', 'name of the class', objectName)
    .addOption(
      new Option(
        '--deletion-policy <policy>',
        'what to do with the data when a snapshot is deleted',
      )
        .choices(['Delete', 'Retain'])
        .default('Delete'),
    )
    .option('--default', 'make it the default for snapshots that name no class');
  addCreateOptions(command).action(async (name: string, _flags, command: Command) => {
    const flags = command.optsWithGlobals<CreateSnapshotClassFlags & GlobalFlags>();
    const { createSnapshotClass: run } = await import('../snapshots/create-class.ts');
    await run(name, flags, io, clientFor(command, io));
  });
  addExamples(command, [
    'stowage create snapshotclass stowage --default',
    '# Keep the data of deleted snapshots',
    'stowage create snapshotclass keep --deletion-policy Retain',
  ]);
}
