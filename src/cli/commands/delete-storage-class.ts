import type { Command } from 'commander';
import { addDeleteClassCommand } from '../lib/delete-class-command.ts';
import type { Io } from '../lib/io.ts';
import { STORAGE_CLASS_NAMES } from '../lib/resource-names.ts';

export default function deleteStorageClass(remove: Command, io: Io): void {
  addDeleteClassCommand(remove, io, {
    nouns: STORAGE_CLASS_NAMES,
    description: 'delete storage classes that no Volume waits for',
    classes: 'storage classes',
    examples: [
      'stowage delete storageclass local',
      '# All storage classes with a label',
      'stowage delete storageclass -l team=db',
    ],
    load: async () => (await import('../storage-class/delete.ts')).deleteStorageClasses,
  });
}
