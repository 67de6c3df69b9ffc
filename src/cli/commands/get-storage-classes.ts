import type { Command } from 'commander';
import { addGetCommand, type GetKind, selectorOption, sortOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { STORAGE_CLASS_NAMES } from '../lib/resource-names.ts';

export default function getStorageClasses(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: STORAGE_CLASS_NAMES,
    description: 'list storage classes for Volumes',
    names: 'names of storage classes (default: all for Volumes)',
    examples: ['stowage get storageclasses -o wide'],
    options: [selectorOption(), sortOption('name', 'age')],
    view: async () => (await import('../storage-class/view.ts')).STORAGE_CLASS_VIEW,
  });
}
