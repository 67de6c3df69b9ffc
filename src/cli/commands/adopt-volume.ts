import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, settleNodeFlags } from '../lib/nodes/flags.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import { labels, objectName, oneObjectName, oneText } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';
import type { AdoptFlags } from '../volume/adopt/flags.ts';

export default function adoptVolume(adopt: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  const command = adopt
    .command(singular)
    .aliases([plural, ...short])
    .description(
      'create a Volume from existing storage with its data: a disk, file or logical volume of a Volume that is gone or whose node is dead. Prompts for missing values on a terminal.',
    )
    .argument('[name]', 'name of the Volume', objectName)
    .option('--node <name>', 'node that has the storage now', oneObjectName)
    .option('--device <path>', 'path of the disk or partition on the node', oneText)
    .option(
      '--directory <path>',
      'directory of the file on the node (default: /var/lib/metalk8s/storage/sparse)',
      oneText,
    )
    .option(
      '--file <uid>',
      'name of the file in that directory, which is the UID of the earlier Volume',
      oneText,
    )
    .option('--vg <name>', 'volume group of the logical volume', oneText)
    .option('--lv <name>', 'name of the logical volume', oneText)
    .option('--storage-class <name>', 'storage class of the PersistentVolume', oneObjectName)
    .addOption(
      new Option(
        '--mode <mode>',
        'volume mode (default: the one that the storage was created for)',
      ).choices(['Filesystem', 'Block']),
    )
    .option('-l, --labels <key=value,...>', 'labels of the Volume and its PersistentVolume', labels)
    .addOption(
      new Option(
        '--on-delete <policy>',
        'what to do with the data when the Volume is deleted (default: Retain)',
      ).choices(['Delete', 'Retain', 'Wipe']),
    )
    .option('--yes', 'adopt without confirmation');
  addNodeOptions(command);
  addWaitOptions(addCreateOptions(command, true), 'wait until the Volume is ready').action(
    async (name: string | undefined, _flags, command: Command) => {
      const given = command.optsWithGlobals<AdoptFlags & GlobalFlags>();
      if (given.dryRun === 'plan' && given.output === 'name') {
        command.error('error: --dry-run=plan takes -o json or -o yaml, but not -o name');
      }
      const flags = { ...given, ...(await settleNodeFlags(command, io.env)), name };
      const { adopt: run } = await import('../volume/adopt/adopt.ts');
      await run(flags, command, io, clientFor(command, io));
    },
  );
  addExamples(command, [
    '# A disk that was moved to node n2',
    'stowage adopt volume data1 --node n2 --device /dev/disk/by-id/wwn-0x5000c500a1b2c3d4 --storage-class local',
    '# A backing file; print the commands that would run on the node',
    'stowage adopt volume data2 --node n2 --file 0b1c7f8e-5d0a-4c63-9a1e-2f3d4c5b6a79 --storage-class local --dry-run=plan',
  ]);
}
