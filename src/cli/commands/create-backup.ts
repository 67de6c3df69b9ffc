import type { Command } from 'commander';
import type { CreateBackupFlags } from '../backups/create.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import {
  type NamespacedName,
  namespacedName,
  oneNamespacedName,
  oneSecretKey,
  oneText,
} from '../lib/parse.ts';
import { BACKUP_NAMES } from '../lib/resource-names.ts';

export default function createBackup(create: Command, io: Io): void {
  const [plural, singular] = BACKUP_NAMES;
  const command = create
    .command(singular)
    .aliases([plural])
    .description('pack what a claim or a snapshot has into an archive elsewhere')
    .argument('<name>', 'name of the Backup, as [NAMESPACE/]NAME', namespacedName)
    .option(
      '--pvc <name>',
      'the claim, in the same namespace; a snapshot of it is taken',
      oneNamespacedName,
    )
    .option('--snapshot <name>', 'the VolumeSnapshot, in the same namespace', oneNamespacedName)
    .requiredOption(
      '--to <url|path>',
      "where it is put: a URL, by PUT, or a path on the volume's node, in a folder of backups that its /etc/stowage/sources.conf lists",
      oneText,
    )
    .option(
      '--authorization-secret <name/key>',
      'what is sent as the header Authorization: a key of a Secret of the same namespace',
      oneSecretKey,
    );
  addWaitOptions(addCreateOptions(command), 'wait until it is whole').action(
    async (name: NamespacedName, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateBackupFlags & GlobalFlags>();
      const { createBackup: run } = await import('../backups/create.ts');
      await run(name, flags, io, () => connectFor(command, io));
    },
  );
}
