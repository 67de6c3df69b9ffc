import { type Command, Option } from 'commander';
import { clientFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { addCreateOptions } from '../objects/flags.ts';
import { objectName } from '../parse.ts';
import type { CreateClassFlags } from '../storage-class/create.ts';
import { commaList, jsonOrElement } from '../storage-class/parse.ts';

export default function createStorageClass(create: Command, io: Io): void {
  const command = create
    .command('storageclass')
    .aliases(['storageclasses', 'sc'])
    .description('create a storage class: the file system of volumes, and how it is mounted')
    .argument('<name>', 'name of the class', objectName)
    .option('--static', 'for Volumes that are made by hand')
    .addOption(new Option('--dynamic', 'for claims that make their own').hideHelp())
    .addOption(new Option('--fs-type <type>', 'file system').choices(['ext4', 'xfs']).default('ext4'))
    .option('--mkfs-options <options>', 'JSON list for mkfs, or one element of it each time', jsonOrElement)
    .option('--mount-options <option,...>', 'options that volumes are mounted with', commaList)
    .option('--default', 'claims that name no class get this one');
  addCreateOptions(command).action(async (name: string, _flags, command: Command) => {
    const flags = command.optsWithGlobals<CreateClassFlags & GlobalFlags>();
    const { create: run } = await import('../storage-class/create.ts');
    await run(name, flags, io, clientFor(command, io));
  });
}
