import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { objectNames } from '../lib/parse.ts';
import { STORAGE_CLASS_NAMES } from '../lib/resource-names.ts';
import type { DeleteClassFlags } from '../storage-class/delete.ts';

export default function deleteStorageClass(remove: Command, io: Io): void {
  const [plural, singular, ...short] = STORAGE_CLASS_NAMES;
  const command = remove
    .command(singular)
    .aliases([plural, ...short])
    .description('delete storage classes that no Volume waits for')
    .argument('<name...>', 'names of storage classes', objectNames)
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .option('--ignore-not-found', 'succeed if a storage class does not exist')
    .action(async (names: string[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<DeleteClassFlags & GlobalFlags>();
      const { deleteClasses } = await import('../storage-class/delete.ts');
      await deleteClasses(names, flags, io, (await connectFor(command, io)).client);
    });
  addExamples(command, ['stowage delete storageclass local']);
}
