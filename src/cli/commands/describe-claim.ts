import type { Command } from 'commander';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { CLAIM_NAMES } from '../lib/resource-names.ts';

export default function describeClaim(describe: Command, io: Io): void {
  const [plural, singular, short] = CLAIM_NAMES;
  addDescribeCommand(describe, io, {
    resource: PERSISTENT_VOLUME_CLAIMS,
    nouns: [short, singular, plural],
    description: 'show details of claims: Volume, data source, snapshots, pods, blocker, events',
    names: 'names of claims, as [NAMESPACE/]NAME',
    examples: ['stowage describe pvc db/data-0', 'stowage describe pvc -A'],
    load: async () => (await import('../why/describe/claim.ts')).describeClaim,
  });
}
