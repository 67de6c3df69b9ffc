import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { durationOption, nodeNames, wholeNumber } from '../parse.ts';

interface WatchFlags extends GlobalFlags {
  transport: 'ssh' | 'local';
  localNode: string[];
  sshConfig?: string;
  workers: number;
  /** ms */
  retryIntervalStart: number;
  retryIntervalMax: number;
}

export default function watch(program: Command, io: Io): void {
  program
    .command('watch')
    .description('run the daemon: make, keep and remove the storage of Volumes')
    .addOption(
      new Option('--transport <transport>', 'how nodes are reached').choices(['ssh', 'local']).default('ssh'),
    )
    .option('--local-node <name,...>', 'nodes that this machine is (with --transport local)', nodeNames, [])
    .option('--ssh-config <file>', 'configuration of ssh (default: ~/.ssh/config)')
    .option('--workers <number>', 'Volumes of one node to work on at once', wholeNumber(1, 1000), 10)
    .addOption(durationOption('--retry-interval-start <duration>', 'first delay before trying again', '1s'))
    .addOption(durationOption('--retry-interval-max <duration>', 'longest delay', '5m'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<WatchFlags>();
      if ((flags.transport === 'local') !== flags.localNode.length > 0) {
        command.error('error: --transport local and --local-node go together');
      }
      if (flags.retryIntervalStart > flags.retryIntervalMax) {
        command.error('error: --retry-interval-start is longer than --retry-interval-max');
      }
      const { runWatch } = await import('../../daemon/watch.ts');
      await runWatch({
        client: (await connectFor(command, io)).client,
        transport: flags.transport,
        localNodes: flags.localNode,
        ...(flags.sshConfig === undefined ? {} : { sshConfig: flags.sshConfig }),
        workers: flags.workers,
        retry: { startMs: flags.retryIntervalStart, maxMs: flags.retryIntervalMax },
        verbose: flags.verbose ?? false,
        signal: io.signal,
      });
    });
}
