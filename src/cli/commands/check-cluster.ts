import { type Command, Option } from 'commander';
import type { CheckClusterFlags } from '../check-cluster/check.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';

export default function checkCluster(check: Command, io: Io): void {
  check
    .command('cluster')
    .description(
      'look at the cluster: definitions of kinds, your permissions, the daemon, storage classes. Nothing is changed.',
    )
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CheckClusterFlags & GlobalFlags>();
      const { checkCluster: run } = await import('../check-cluster/check.ts');
      await run(flags, io, await connectFor(command, io));
    });
}
