import type { Command } from 'commander';
import { STORAGE_CLASSES } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { STORAGE_CLASS_NAMES } from '../lib/resource-names.ts';

export default function describeStorageClass(describe: Command, io: Io): void {
  const [plural, singular, short] = STORAGE_CLASS_NAMES;
  addDescribeCommand(describe, io, {
    resource: STORAGE_CLASSES,
    nouns: [singular, plural, short],
    description:
      'show details of storage classes: parameters, whether they are usable, Volumes, free space',
    names: 'names of storage classes',
    examples: ['stowage describe storageclass fast'],
    load: async () => (await import('../storage-class/describe.ts')).describeStorageClass,
  });
}
