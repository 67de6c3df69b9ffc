import { systemClock } from '../workqueue/clock.ts';
import type { Io } from './lib/io.ts';
import { SIGNAL_EXIT, SignalError } from './lib/signals.ts';
import { run } from './run.ts';

/** What a shell reports for a program that writes to a pipe nobody reads, as `… | head` leaves it. */
const BROKEN_PIPE = 141;

/** Runs the command line of a process in that process, and ends it. */
export async function runProcess(process: NodeJS.Process): Promise<void> {
  const aborter = new AbortController();
  for (const signal of Object.keys(SIGNAL_EXIT) as (keyof typeof SIGNAL_EXIT)[]) {
    // Never taken off again: what a library adds for its clean-up would then end the process by the signal itself.
    process.on(signal, () => {
      // Who asks again wants it to end now.
      if (aborter.signal.aborted) process.exit(SIGNAL_EXIT[signal]);
      aborter.abort(new SignalError(signal));
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
      if (stream === process.stdout)
        process.stderr.write(`error: standard output: ${error.message}\n`);
      process.exit(1);
    });
  }
  // Libraries that colour by themselves go by it.
  if (process.argv.some((argument) => /^--no-color(=true)?$/.test(argument)))
    process.env.NO_COLOR = '1';
  const io: Io = {
    // Looked at only by what reads it.
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
  // Pipes are written asynchronously: what was printed must be out before the process ends, whatever still listens.
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  process.exit(code);
}

const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });
