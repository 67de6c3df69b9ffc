import { execa } from 'execa';

export interface LimitedOptions {
  cwd: string;
  env: Record<string, string>;
  /** Ends the process and all that it started, in ms. */
  limit: number;
  signal: AbortSignal;
}

/** Time (ms) that a process group has to clean up before it is killed. */
const GRACE = 5000;

/**
 * Runs a command in a process group of its own, and ends the group at the time limit.
 * @returns whether the limit was reached
 * @throws what aborted `signal`
 */
export async function runLimited(
  command: string,
  args: readonly string[],
  options: LimitedOptions,
): Promise<boolean> {
  const { cwd, env, limit, signal } = options;
  signal.throwIfAborted();
  const child = execa(command, args, {
    cwd,
    env,
    detached: true,
    reject: false,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  let late = false;
  const end = () => {
    killGroup(child.pid, 'SIGTERM');
    setTimeout(() => killGroup(child.pid, 'SIGKILL'), GRACE).unref();
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, limit);
  signal.addEventListener('abort', end, { once: true });
  await child;
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
  // What the command started and left running belongs to the same group.
  if (late || signal.aborted) killGroup(child.pid, 'SIGKILL');
  signal.throwIfAborted();
  return late;
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
