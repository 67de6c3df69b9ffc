import type { Command } from 'commander';
import { VOLUME_SNAPSHOT_CLASSES } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { SNAPSHOT_CLASS_NAMES } from '../lib/resource-names.ts';

export default function describeSnapshotClass(describe: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_CLASS_NAMES;
  addDescribeCommand(describe, io, {
    resource: VOLUME_SNAPSHOT_CLASSES,
    nouns: [singular, plural, ...more],
    description:
      'show details of VolumeSnapshotClasses: parameters, whether they are usable, snapshots',
    names: 'names of VolumeSnapshotClasses',
    examples: ['stowage describe snapshotclass fast'],
    load: async () => (await import('../snapshots/describe-class.ts')).describeSnapshotClass,
  });
}
