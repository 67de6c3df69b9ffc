import { type Command, Option } from 'commander';
import { FS_TYPES } from '../../api/file-systems.ts';
import { addExamples } from '../lib/examples.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions } from '../lib/objects/flags.ts';
import { lvmName, objectName, oneDirectory } from '../lib/parse.ts';
import type { CreateClassFlags } from '../storage-class/flags.ts';
import { commaList, jsonOrElement } from '../storage-class/parse.ts';

export default function createStorageClass(create: Command, io: Io): void {
  const command = create
    .command('storageclass')
    .aliases(['storageclasses', 'sc'])
    .description(
      'create a storage class, static (for Volumes created by hand) or dynamic (for claims). Prompts for missing values on a terminal.',
    )
    .argument('[name]', 'name of the class', objectName)
    .option('--static', 'create a class for Volumes that are created by hand')
    .option('--dynamic', 'create a class that provisions a volume for each claim')
    .addOption(
      new Option(
        '--type <type>',
        'kind of storage (--dynamic; default: lvm with --vg, else sparse)',
      ).choices(['sparse', 'lvm']),
    )
    .option(
      '--directory <path>',
      'directory of the sparse files on each node (--dynamic; default: /var/lib/metalk8s/storage/sparse)',
      oneDirectory,
    )
    .option(
      '--require-mount',
      'provision only on nodes where that directory is not on the root file system (--dynamic)',
    )
    .option('--vg <name>', 'volume group on each node (--dynamic)', lvmName)
    .option(
      '--thin-pool <name>',
      'thin pool in that volume group (--dynamic; default: none)',
      lvmName,
    )
    .option(
      '--overwrite-free-extents',
      'allow overwriting data of removed volumes in free extents of that group (--dynamic with --vg)',
    )
    .addOption(
      new Option(
        '--reclaim-policy <policy>',
        'what to do with a volume when its claim is deleted (--dynamic; default: Delete)',
      ).choices(['Delete', 'Retain']),
    )
    .addOption(
      new Option(
        '--on-delete <action>',
        'what to do with the data of a deleted volume; Wipe overwrites it first (--dynamic; default: Delete)',
      ).choices(['Delete', 'Wipe']),
    )
    .addOption(
      new Option(
        '--attach-policy <policy>',
        'when to attach volumes to their nodes; OnDemand is while a pod needs them (--dynamic; default: Always)',
      ).choices(['Always', 'OnDemand']),
    )
    .addOption(
      new Option('--fs-type <type>', 'type of the file system (default: ext4)').choices(FS_TYPES),
    )
    .option(
      '--mkfs-options <options>',
      'arguments for mkfs: a JSON list, or one argument for each use of this flag',
      jsonOrElement,
    )
    .option('--mount-options <option,...>', 'mount options of the volumes', commaList)
    .option('--default', 'make it the default for claims that name no class');
  addCreateOptions(command).action(async (name: string | undefined, _flags, command: Command) => {
    const flags = { ...command.optsWithGlobals<CreateClassFlags & GlobalFlags>(), name };
    const { create: run } = await import('../storage-class/create.ts');
    await run(flags, command, io, clientFor(command, io));
  });
  addExamples(command, [
    '# For Volumes that are created by hand',
    'stowage create storageclass local --static --fs-type ext4 --mount-options noatime',
    '# For claims: sparse files',
    'stowage create storageclass fast --dynamic --directory /data/volumes --fs-type xfs',
    '# For claims: logical volumes of a thin pool',
    'stowage create storageclass thin --dynamic --vg vg0 --thin-pool pool0 --default',
  ]);
}
