import type { Command } from 'commander';
import { VOLUMES } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';

export default function describeVolume(describe: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  addDescribeCommand(describe, io, {
    resource: VOLUMES,
    nouns: [singular, plural, ...short],
    description: 'show details of Volumes: spec, status, PersistentVolume, claim, pods, events',
    names: 'names of Volumes',
    examples: ['stowage describe volume data1', 'stowage describe volume -l app=db'],
    load: async () => (await import('../volume/describe-volume.ts')).describeVolume,
  });
}
