import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
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
      'create a Volume: storage on a node, and its PersistentVolume. Prompts for missing values on a terminal.',
    )
    .argument(
      '[name]',
      'name of the Volume; with several nodes, Volumes are named <name>-<node>',
      objectName,
    )
    .option(
      '--node <name,...>',
      "node that holds the storage; for several, repeat the flag, or write a,b or 'n{1..4}'",
      nodes,
    )
    .addOption(
      new Option('--type <type>', 'kind of storage (default: from the other flags)').choices([
        'sparse',
        'raw',
        'lvm',
      ]),
    )
    .option('--size <quantity>', 'size of a sparse file or a logical volume, such as 10Gi', oneText)
    .option(
      '--directory <path>',
      'directory of the sparse file on the node (default: /var/lib/metalk8s/storage/sparse)',
      oneText,
    )
    .option('--require-mount', 'provision only if that directory is not on the root file system')
    .option('--device <path>', 'path of the disk or partition on the node', oneText)
    .option(
      '--overwrite <signature>',
      'signature that may be overwritten on the device or in the extents, such as ext4:UUID',
      oneText,
    )
    .option('--vg <name>', 'volume group of the logical volume', oneText)
    .option('--thin-pool <name>', 'thin pool in that volume group (default: none)', oneText)
    .option('--storage-class <name>', 'storage class of the PersistentVolume', oneObjectName)
    .addOption(
      new Option('--mode <mode>', 'volume mode (default: Filesystem)').choices([
        'Filesystem',
        'Block',
      ]),
    )
    .option('-l, --labels <key=value,...>', 'labels of the Volume and its PersistentVolume', labels)
    .addOption(
      new Option(
        '--on-delete <policy>',
        'what to do with the data when the Volume is deleted (default: Delete for a file, Retain for a device or a logical volume)',
      ).choices(['Delete', 'Retain', 'Wipe']),
    )
    .addOption(
      new Option(
        '--attach-policy <policy>',
        'when to attach it to the node; OnDemand is while a pod needs it (default: Always)',
      ).choices(['Always', 'OnDemand']),
    )
    .option('--yes', 'overwrite without confirmation');
  addNodeOptions(command, 'Node access (for --dry-run=plan and prompts only):');
  addWaitOptions(addCreateOptions(command, true), 'wait until the Volume is ready').action(
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
        command.error('error: --dry-run=plan takes -o json or -o yaml, but not -o name');
      }
      const { create: run } = await import('../volume/create.ts');
      await run(flags, command, io, clientFor(command, io), nodeFlags);
    },
  );
  addExamples(command, [
    '# A sparse file of 10 GiB',
    'stowage create volume data1 --node n1 --size 10Gi --storage-class local --wait',
    '# A logical volume on each of four nodes',
    "stowage create volume db --node 'n{1..4}' --vg vg0 --size 10Gi --storage-class local",
    '# A disk; print the commands that would run on the node',
    'stowage create volume data2 --node n1 --device /dev/sdb --storage-class local --dry-run=plan',
  ]);
}
