import { systemClock } from '../workqueue/clock.ts';
import type { Io } from './lib/io.ts';
import { SIGNAL_EXIT, SignalError } from './lib/signals.ts';
import { run } from './run.ts';

/** Exit status that shells report for a program that writes to a closed pipe, as in `… | head`. */
const BROKEN_PIPE = 141;

/** Runs the command line of a process in that process, and ends it. */
export async function runProcess(process: NodeJS.Process): Promise<void> {
  const aborter = new AbortController();
  for (const signal of Object.keys(SIGNAL_EXIT) as (keyof typeof SIGNAL_EXIT)[]) {
    // Never removed: with handlers of libraries alone, the signal itself would end the process.
    process.on(signal, () => {
      // A second signal ends the process at once.
      if (aborter.signal.aborted) process.exit(SIGNAL_EXIT[signal]);
      aborter.abort(new SignalError(signal));
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
      if (stream === process.stdout)
        process.stderr.write(`error: cannot write to standard output: ${error.message}\n`);
      process.exit(1);
    });
  }
  // Libraries that print colors read this variable.
  if (process.argv.some((argument) => /^--no-color(=true)?$/.test(argument)))
    process.env.NO_COLOR = '1';
  const io: Io = {
    // A getter, so that standard input is opened only if it is read.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    signal: aborter.signal,
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
    },
    clock: systemClock,
    connect: async (options) => (await import('../kube/connect.ts')).connect(options),
    nodes: async (options) =>
      (await import('../model/node-executor.ts')).createNodeExecutor(options),
    prompts: async () =>
      (await import('./lib/prompts/terminal.ts')).terminalPrompts(
        process.stdin,
        process.stderr,
        aborter.signal,
      ),
  };
  const code = await run(process.argv.slice(2), io);
  // Pipes are written asynchronously: all output must be flushed before the process ends.
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  process.exit(code);
}

const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });
