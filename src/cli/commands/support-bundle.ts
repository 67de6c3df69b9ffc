import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, refuseNodeFlags, settleNodeFlags } from '../lib/nodes/flags.ts';
import { durationOption, oneText, wholeNumber } from '../lib/parse.ts';
import type { BundleFlags } from '../support-bundle/bundle.ts';

interface Flags extends BundleFlags {
  since: number;
  nodes: boolean;
}

/** Maximum number of log lines of a pod, for --tail. */
const MOST_LINES = 100_000;

export default function supportBundle(program: Command, io: Io): void {
  const command = program
    .command('support-bundle')
    .description(
      'write what a report of a fault needs into an archive, without Secrets: objects, events, logs, and results of why, check cluster and check node',
    )
    .option(
      '-f, --file <file>',
      'archive to write, or - for standard output (default: stowage-support-DATE.tar.gz)',
      oneText,
    )
    .option('--force', 'replace an existing file')
    .addOption(durationOption('--since <duration>', 'maximum age of log lines', '1h'))
    .option(
      '--tail <lines>',
      'maximum number of log lines of each container, of any age unless --since is given',
      wholeNumber(1, MOST_LINES),
    )
    .option('--no-nodes', 'do not connect to nodes');
  addNodeOptions(command).action(async (_flags, command: Command) => {
    const { nodes: isChecking, since, ...given } = command.opts<Flags>();
    if (!isChecking) refuseNodeFlags(command, 'a run without --no-nodes');
    const node = isChecking ? await settleNodeFlags(command, io.env) : undefined;
    const isSince = given.tail === undefined || command.getOptionValueSource('since') === 'cli';
    const flags: BundleFlags = { ...given, ...(isSince && { since }) };
    const connection = await connectFor(command, io);
    const json = { output: 'json', color: false } as const;
    const { supportBundle: run } = await import('../support-bundle/bundle.ts');
    await run(flags, io, connection, {
      async version(io) {
        const { showVersion } = await import('../show-version/show.ts');
        await showVersion(json, io, async () => connection);
      },
      async why(io) {
        const { whyAll } = await import('../why/all/all.ts');
        await whyAll(json, io, connection);
      },
      async cluster(io) {
        const { checkCluster } = await import('../check-cluster/check.ts');
        await checkCluster(json, io, connection);
      },
      ...(node !== undefined && {
        nodes: {
          async check(names, io) {
            const { checkNodes } = await import('../node/check/check.ts');
            await checkNodes(names, { ...node, ...json }, io, connection.client);
          },
          // This machine is no other node.
          ...(node.transport === 'local' && { names: node.localNode }),
        },
      }),
    });
  });
  addExamples(command, [
    'stowage support-bundle',
    'stowage support-bundle --no-nodes --since 15m -f bundle.tar.gz',
  ]);
}
