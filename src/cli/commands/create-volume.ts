import { type Command, Option } from 'commander';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import {
  addNodeOptions,
  type NodeFlags,
  refuseNodeFlags,
  settleNodeFlags,
} from '../lib/nodes/flags.ts';
import { nodes } from '../lib/nodes/node-pattern.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import { labels, objectName, oneObjectName, oneText } from '../lib/parse.ts';
import type { CreateVolumeFlags } from '../volume/flags.ts';

export default function createVolume(create: Command, io: Io): void {
  const command = create
    .command('volume')
    .aliases(['volumes', 'vol'])
    .description(
      'create a Volume: storage on a node that becomes a PersistentVolume. What is missing is asked for on a terminal.',
    )
    .argument(
      '[name]',
      'name of the Volume; on several nodes they are named <name>-<node>',
      objectName,
    )
    .option(
      '--node <name,...>',
      'node that holds the storage; several times, or as a,b or n{1..4}, for several',
      nodes,
    )
    .addOption(
      new Option('--type <type>', 'kind of storage (default: by the flags given)').choices([
        'sparse',
        'raw',
        'lvm',
      ]),
    )
    .option('--size <quantity>', 'size of a sparse file or a logical volume, such as 10Gi', oneText)
    .option('--directory <path>', 'folder of that file on the node', oneText)
    .option('--require-mount', 'make it only where that folder is not on the root file system')
    .option('--device <path>', 'disk or partition of the node', oneText)
    .option(
      '--overwrite <signature>',
      'what may be destroyed on the device or in the extents, such as ext4:UUID',
      oneText,
    )
    .option('--vg <name>', 'volume group of the node that the logical volume is made in', oneText)
    .option('--thin-pool <name>', 'thin pool of that group to take it from', oneText)
    .option('--storage-class <name>', 'class of the PersistentVolume', oneObjectName)
    .addOption(new Option('--mode <mode>', 'what a pod gets').choices(['Filesystem', 'Block']))
    .option(
      '-l, --labels <key=value,...>',
      'labels of the Volume and of its PersistentVolume',
      labels,
    )
    .addOption(
      new Option(
        '--on-delete <policy>',
        'what becomes of the data (default: Delete for a file, Retain for a device or a logical volume)',
      ).choices(['Delete', 'Retain', 'Wipe']),
    )
    .addOption(
      new Option(
        '--attach-policy <policy>',
        'when its device is on the node (default: Always)',
      ).choices(['Always', 'OnDemand']),
    )
    .option('--yes', 'overwrite without asking');
  addNodeOptions(command, ', for --dry-run=plan and for what is asked for');
  addWaitOptions(addCreateOptions(command, true), 'wait until the Volume can be used').action(
    async (name: string | undefined, _flags, command: Command) => {
      const given = { ...command.optsWithGlobals<CreateVolumeFlags & GlobalFlags>(), name };
      const { asks } = await import('../volume/wizard.ts');
      const isPlan = given.dryRun === 'plan';
      if (!isPlan && !asks(given, io)) refuseNodeFlags(command, '--dry-run=plan');
      let settled: Promise<NodeFlags> | undefined;
      const nodeFlags = () => {
        settled ??= settleNodeFlags(command, io.env);
        return settled;
      };
      const flags = isPlan ? { ...given, ...(await nodeFlags()) } : given;
      if (flags.dryRun === 'plan' && flags.output === 'name') {
        command.error('error: --dry-run=plan prints commands, or data with -o json or yaml');
      }
      const { create: run } = await import('../volume/create.ts');
      await run(flags, command, io, clientFor(command, io), nodeFlags);
    },
  );
}
