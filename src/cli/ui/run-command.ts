import { StowageError } from '../../api/errors.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { option } from '../lib/wizard/same-command.ts';

/** Runs a command line in this process, and returns the exit status. */
export type Run = (argv: readonly string[], io: Io) => Promise<number>;

export interface CommandResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Runs a command of Stowage with the global flags of `stowage ui`, except the namespace. */
export type RunCommand = (words: readonly string[]) => Promise<CommandResult>;

/** Maximum characters of a command's output. */
const MOST_OUTPUT = 32 << 20;
/** Time (ms) after which a command is ended. */
const DEADLINE = 120_000;
/** Commands that run at a time: each reads several kinds. */
const MOST_RUNNING = 4;
/** Commands that wait for one of these to end. */
const MOST_WAITING = 64;

/** Returns the global flags as arguments. */
export function globalArguments({
  kubeconfig,
  context,
  namespace,
  as,
  requestTimeout,
}: Omit<GlobalFlags, 'color'>): string[] {
  const all = {
    '--kubeconfig': kubeconfig,
    '--context': context,
    '--namespace': namespace,
    '--as': as,
    '--request-timeout': requestTimeout === undefined ? undefined : `${requestTimeout}ms`,
  };
  return ['--no-color', ...Object.entries(all).flatMap(([name, value]) => option(name, value))];
}

/**
 * Returns a function that runs commands in this process, over the same connection, without a
 * terminal. It rejects with a StowageError if there is too much output or too little time, or if
 * too many commands wait.
 */
export function createRunCommand(
  run: Run,
  io: Io,
  connection: Connection,
  flags: GlobalFlags,
): RunCommand {
  const { namespace: _all, ...cluster } = flags;
  // The page shows the whole cluster: with a namespace, `why --all` skips Volumes.
  const globals = globalArguments(cluster);
  const waiting: (() => void)[] = [];
  let running = 0;

  async function runOne(words: readonly string[]): Promise<CommandResult> {
    const ending = new AbortController();
    const done = new AbortController();
    const output = { stdout: '', stderr: '' };
    const collect = (name: keyof typeof output) => ({
      write(text: string) {
        if (output.stdout.length + output.stderr.length + text.length <= MOST_OUTPUT)
          output[name] += text;
        else ending.abort(new StowageError('failed', 'the command printed too much'));
      },
    });
    io.clock.sleep(DEADLINE, AbortSignal.any([done.signal, io.signal])).then(
      () => ending.abort(new StowageError('timeout', `timed out after ${DEADLINE / 1000} s`)),
      () => {},
    );
    const signal = AbortSignal.any([io.signal, ending.signal]);
    try {
      const exitCode = await run([...globals, ...words], {
        ...io,
        stdin: emptyInput(),
        stdout: collect('stdout'),
        stderr: collect('stderr'),
        signal,
        onHangup() {},
        connect: async () => connection,
      });
      signal.throwIfAborted();
      return { ...output, exitCode };
    } finally {
      done.abort();
    }
  }

  return async (words) => {
    if (waiting.length >= MOST_WAITING)
      throw new StowageError('failed', `${MOST_WAITING} commands wait already: retry`);
    if (running >= MOST_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await runOne(words);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}

/** Standard input without bytes. */
export async function* emptyInput(): AsyncGenerator<Uint8Array> {}
