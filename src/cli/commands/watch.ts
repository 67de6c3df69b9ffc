import type { Command } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { addNodeOptions, checkNodeFlags, type NodeFlags } from '../nodes/flags.ts';
import { durationOption, wholeNumber } from '../parse.ts';

interface WatchFlags extends GlobalFlags, NodeFlags {
  workers: number;
  /** ms */
  retryIntervalStart: number;
  retryIntervalMax: number;
}

export default function watch(program: Command, io: Io): void {
  const command = program
    .command('watch')
    .description('run the daemon: make, keep and remove the storage of Volumes');
  addNodeOptions(command)
    .option('--workers <number>', 'Volumes of one node to work on at once', wholeNumber(1, 1000), 10)
    .addOption(durationOption('--retry-interval-start <duration>', 'first delay before trying again', '1s'))
    .addOption(durationOption('--retry-interval-max <duration>', 'longest delay', '5m'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<WatchFlags>();
      checkNodeFlags(command);
      if (flags.retryIntervalStart > flags.retryIntervalMax) {
        command.error('error: --retry-interval-start is longer than --retry-interval-max');
      }
      const { runWatch } = await import('../../daemon/watch.ts');
      await runWatch({
        connect: async (onCall) => (await connectFor(command, io, onCall)).client,
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
