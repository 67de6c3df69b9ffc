import { type Command, Option } from 'commander';
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
      'create a Volume from storage with data that was brought to a node: a disk, file or logical volume of a Volume that is gone or whose node is dead. What is missing is asked for on a terminal.',
    )
    .argument('[name]', 'name of the Volume', objectName)
    .option('--node <name>', 'node that has the storage now', oneObjectName)
    .option('--device <path>', 'disk or partition of the node', oneText)
    .option('--directory <path>', 'directory of the file on the node', oneText)
    .option(
      '--file <uid>',
      'name of the file in that directory: the UID of the earlier Volume',
      oneText,
    )
    .option('--vg <name>', 'volume group of the node', oneText)
    .option('--lv <name>', 'logical volume of that group', oneText)
    .option('--storage-class <name>', 'class of the PersistentVolume', oneObjectName)
    .addOption(
      new Option('--mode <mode>', 'what a pod gets (default: as the storage was made)').choices([
        'Filesystem',
        'Block',
      ]),
    )
    .option(
      '-l, --labels <key=value,...>',
      'labels of the Volume and of its PersistentVolume',
      labels,
    )
    .addOption(
      new Option('--on-delete <policy>', 'what becomes of the data (default: Retain)').choices([
        'Delete',
        'Retain',
        'Wipe',
      ]),
    )
    .option('--yes', 'adopt without asking');
  addNodeOptions(command);
  addWaitOptions(addCreateOptions(command, true), 'wait until the Volume can be used').action(
    async (name: string | undefined, _flags, command: Command) => {
      const given = command.optsWithGlobals<AdoptFlags & GlobalFlags>();
      if (given.dryRun === 'plan' && given.output === 'name') {
        command.error('error: --dry-run=plan prints commands, or data with -o json or yaml');
      }
      const flags = { ...given, ...(await settleNodeFlags(command, io.env)), name };
      const { adopt: run } = await import('../volume/adopt/adopt.ts');
      await run(flags, command, io, clientFor(command, io));
    },
  );
}
