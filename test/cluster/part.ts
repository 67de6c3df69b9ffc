import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A program of the cluster that runs until it is stopped. It ends with this process, even if that
 * is killed.
 */
export interface Part {
  name: string;
  pid: number;
  /** Path of the file with its stdout and stderr. */
  log: string;
  /** Terminates it, and kills it after 10 s. */
  stop(): Promise<void>;
}

export interface PartOptions {
  name: string;
  argv: readonly [string, ...string[]];
  /** Directory of its log `NAME.log`. Output of an earlier program of this name is kept. */
  folder: string;
  env?: Record<string, string>;
  cwd?: string;
  /** Resolves to true once the program can be used. An exception means: not ready yet. */
  ready(): Promise<boolean>;
  /** Timeout in ms. Absent: one minute. */
  readyWithin?: number;
}

const STOP_MS = 10_000;

/**
 * Starts a program and waits until it is ready. Throws with the end of its log if it ends early or
 * takes too long.
 */
export async function startPart({
  name,
  argv,
  folder,
  ready,
  ...options
}: PartOptions): Promise<Part> {
  const log = join(folder, `${name}.log`);
  const output = openSync(log, 'a');
  // setpriv makes the kernel kill it with this process: a killed test runner leaves nothing behind.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...argv], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...options.env },
    cwd: options.cwd,
  });
  closeSync(output);
  const ended = endOf(child);
  const part = { name, pid: child.pid ?? 0, log, stop: () => stop(child, ended.promise) };
  const deadline = Date.now() + (options.readyWithin ?? 60_000);
  while (!(await ready().catch(() => false))) {
    if (ended.how !== undefined)
      throw failure(part, `${name} ended with ${ended.how} before it was ready`);
    if (Date.now() > deadline) {
      await part.stop();
      throw failure(part, `${name} was not ready in time`);
    }
    await sleep(50);
  }
  return part;
}

/** Returns an error that shows the end of a part's log. */
export function failure({ log }: Pick<Part, 'log'>, message: string): Error {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return new Error(`${message}; ${log} ends:\n${lines.slice(-20).join('\n')}`);
}

function endOf(child: ChildProcess) {
  const ended: { how?: string; promise: Promise<void> } = { promise: Promise.resolve() };
  ended.promise = new Promise((resolve) => {
    const end = (how: string) => {
      ended.how = how;
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
  });
  return ended;
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
