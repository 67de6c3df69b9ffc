import type { Command } from 'commander';
import { addDeleteClassCommand } from '../lib/delete-class-command.ts';
import type { Io } from '../lib/io.ts';
import { SNAPSHOT_CLASS_NAMES } from '../lib/resource-names.ts';

export default function deleteSnapshotClass(remove: Command, io: Io): void {
  addDeleteClassCommand(remove, io, {
    nouns: SNAPSHOT_CLASS_NAMES,
    description: 'delete VolumeSnapshotClasses that no snapshot waits for',
    classes: 'VolumeSnapshotClasses',
    examples: [
      'stowage delete snapshotclass fast',
      '# All classes of Stowage with a label',
      'stowage delete snapshotclass -l team=db',
    ],
    load: async () => (await import('../snapshots/delete-class.ts')).deleteSnapshotClasses,
  });
}
