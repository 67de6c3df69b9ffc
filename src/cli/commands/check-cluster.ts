import { type Command, Option } from 'commander';
import type { CheckClusterFlags } from '../check-cluster/check.ts';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';

export default function checkCluster(check: Command, io: Io): void {
  const command = check
    .command('cluster')
    .description(
      'check the CRDs of the cluster, your permissions, the daemon and the storage classes, without changing anything',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CheckClusterFlags & GlobalFlags>();
      const { checkCluster: run } = await import('../check-cluster/check.ts');
      await run(flags, io, await connectFor(command, io));
    });
  addExamples(command, ['stowage check cluster']);
}
