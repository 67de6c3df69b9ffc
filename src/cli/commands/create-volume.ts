import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { durationOption, labels, objectName, oneObjectName } from '../parse.ts';
import type { CreateFlags } from '../volume/create.ts';

export default function createVolume(create: Command, io: Io): void {
  create
    .command('volume')
    .aliases(['volumes', 'vol'])
    .description('create a Volume: storage on a node that becomes a PersistentVolume')
    .argument('<name>', 'name of the Volume', objectName)
    .requiredOption('--node <name>', 'node that holds the storage', oneObjectName)
    .addOption(new Option('--type <type>', 'kind of storage').choices(['sparse']).default('sparse'))
    .requiredOption('--size <quantity>', 'size, such as 10Gi')
    .option('--directory <path>', 'folder of the file on the node')
    .requiredOption('--storage-class <name>', 'class of the PersistentVolume', objectName)
    .addOption(new Option('--mode <mode>', 'what a pod gets').choices(['Filesystem', 'Block']))
    .option('-l, --labels <key=value,...>', 'labels of the Volume and of its PersistentVolume', labels)
    .addOption(
      new Option('--dry-run <mode>', 'create nothing: check here, or let the server check')
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option('--wait', 'wait until the Volume can be used')
    .addOption(durationOption('--timeout <duration>', 'how long to wait at most', '5m'))
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml', 'name']))
    .action(async (name: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateFlags & GlobalFlags>();
      const { create: run } = await import('../volume/create.ts');
      await run(name, flags, io, () => connectFor(command, io));
    });
}
