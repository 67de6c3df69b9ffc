import type { Command } from 'commander';
import { addGetCommand, type GetKind, selectorOption, sortOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { SNAPSHOT_CLASS_NAMES } from '../lib/resource-names.ts';

export default function getSnapshotClasses(get: Command, io: Io): GetKind {
  return addGetCommand(get, io, {
    nouns: SNAPSHOT_CLASS_NAMES,
    description: 'list VolumeSnapshotClasses of Stowage',
    names: 'names of VolumeSnapshotClasses (default: all of Stowage)',
    examples: ['stowage get snapshotclasses'],
    options: [selectorOption(), sortOption('name', 'age')],
    view: async () => (await import('../snapshots/class-view.ts')).SNAPSHOT_CLASS_VIEW,
  });
}
