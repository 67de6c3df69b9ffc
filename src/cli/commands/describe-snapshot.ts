import type { Command } from 'commander';
import { VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { SNAPSHOT_NAMES } from '../lib/resource-names.ts';

export default function describeSnapshot(describe: Command, io: Io): void {
  const [plural, singular, ...more] = SNAPSHOT_NAMES;
  addDescribeCommand(describe, io, {
    resource: VOLUME_SNAPSHOTS,
    nouns: [singular, plural, ...more],
    description: 'show details of VolumeSnapshots: source, content, grants, blocker, events',
    names: 'names of VolumeSnapshots, as [NAMESPACE/]NAME',
    examples: ['stowage describe snapshot prod/foo-backup'],
    load: async () => (await import('../why/describe/snapshot.ts')).describeSnapshot,
  });
}
