import type { Command } from 'commander';
import type { CreateBackupFlags } from '../backups/create.ts';
import { addExamples } from '../lib/examples.ts';
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
    .description('back up a claim or a snapshot to an archive')
    .argument('<name>', 'name of the Backup, as [NAMESPACE/]NAME', namespacedName)
    .option(
      '--pvc <name>',
      'claim to back up, in the same namespace; a snapshot of it is taken',
      oneNamespacedName,
    )
    .option(
      '--snapshot <name>',
      'VolumeSnapshot to back up, in the same namespace',
      oneNamespacedName,
    )
    .requiredOption(
      '--to <url|path>',
      "destination of the archive: a URL (HTTP PUT), or a path on the volume's node, in a backup directory of its /etc/stowage/sources.conf",
      oneText,
    )
    .option(
      '--authorization-secret <name/key>',
      'Secret of the same namespace, and its key, with the value of the HTTP header Authorization',
      oneSecretKey,
    );
  addWaitOptions(addCreateOptions(command), 'wait until the archive is complete').action(
    async (name: NamespacedName, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CreateBackupFlags & GlobalFlags>();
      const { createBackup: run } = await import('../backups/create.ts');
      await run(name, flags, io, () => connectFor(command, io));
    },
  );
  addExamples(command, [
    'stowage create backup prod/monday --pvc db --to https://backups.example.com/db/monday.tar.zst --wait',
    '# A snapshot, with the header Authorization from the key token of Secret backups',
    'stowage create backup prod/monday --snapshot foo-backup --to https://backups.example.com/foo.tar.zst --authorization-secret backups/token',
  ]);
}
