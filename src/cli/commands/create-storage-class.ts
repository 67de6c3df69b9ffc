import { type Command, Option } from 'commander';
import { FS_TYPES } from '../../api/file-systems.ts';
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
      'create a storage class: the file system of volumes, and how it is mounted. What is missing is asked for on a terminal.',
    )
    .argument('[name]', 'name of the class', objectName)
    .option('--static', 'for Volumes that are made by hand')
    .option('--dynamic', 'for claims, which make their own')
    .addOption(
      new Option(
        '--type <type>',
        'of a dynamic class: what its volumes are (default: by the flags given)',
      ).choices(['sparse', 'lvm']),
    )
    .option(
      '--directory <path>',
      'of a dynamic class: folder of sparse files on the nodes',
      oneDirectory,
    )
    .option(
      '--require-mount',
      'of a dynamic class: make volumes only where that folder is not on the root file system',
    )
    .option('--vg <name>', 'of a dynamic class: volume group of the nodes', lvmName)
    .option(
      '--thin-pool <name>',
      'of a dynamic class: thin pool of that group to take volumes from',
      lvmName,
    )
    .option(
      '--overwrite-free-extents',
      'of a dynamic class with --vg: consent to destroy what removed volumes left in free extents of that group',
    )
    .addOption(
      new Option(
        '--reclaim-policy <policy>',
        'of a dynamic class: what becomes of a volume whose claim is deleted (default: Delete)',
      ).choices(['Delete', 'Retain']),
    )
    .addOption(
      new Option(
        '--on-delete <action>',
        'of a dynamic class: whether the data of a deleted volume is overwritten (default: Delete)',
      ).choices(['Delete', 'Wipe']),
    )
    .addOption(
      new Option(
        '--attach-policy <policy>',
        'of a dynamic class: when the device of a volume is on its node (default: Always)',
      ).choices(['Always', 'OnDemand']),
    )
    .addOption(new Option('--fs-type <type>', 'file system (default: ext4)').choices(FS_TYPES))
    .option(
      '--mkfs-options <options>',
      'JSON list for mkfs, or one element of it each time',
      jsonOrElement,
    )
    .option('--mount-options <option,...>', 'options that volumes are mounted with', commaList)
    .option('--default', 'claims that name no class get this one');
  addCreateOptions(command).action(async (name: string | undefined, _flags, command: Command) => {
    const flags = { ...command.optsWithGlobals<CreateClassFlags & GlobalFlags>(), name };
    const { create: run } = await import('../storage-class/create.ts');
    await run(flags, command, io, clientFor(command, io));
  });
}
