import type { Command } from 'commander';
import { PODS } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { POD_NAMES } from '../lib/resource-names.ts';

export default function describePod(describe: Command, io: Io): void {
  const [plural, singular, short] = POD_NAMES;
  addDescribeCommand(describe, io, {
    resource: PODS,
    nouns: [singular, plural, short],
    description: 'show details of pods: claims, Volumes, attachments, blocker, events',
    names: 'names of pods, as [NAMESPACE/]NAME',
    examples: ['stowage describe pod db/db-0'],
    load: async () => (await import('../why/describe/pod.ts')).describePod,
  });
}
