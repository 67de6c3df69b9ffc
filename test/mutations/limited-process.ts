import { execa } from 'execa';

export interface LimitedOptions {
  cwd: string;
  env: Record<string, string>;
  /** Time limit in ms, after which the process and all its descendants are ended. */
  limit: number;
  signal: AbortSignal;
}

export interface LimitedEnd {
  /** Set if the limit was reached. */
  isLate: boolean;
  exitCode: number | undefined;
  stderr: string;
}

/** Time (ms) that a process group has to clean up before it is killed. */
const GRACE = 5000;

/**
 * Runs a command in a process group of its own, and ends the group at the time limit.
 * @throws what aborted `signal`
 */
export async function runLimited(
  [command = '', ...args]: readonly string[],
  { cwd, env, limit, signal }: LimitedOptions,
): Promise<LimitedEnd> {
  signal.throwIfAborted();
  const child = execa(command, args, {
    ...{ cwd, env, detached: true, reject: false },
    ...{ stdin: 'ignore', stdout: 'ignore' },
  });
  let isLate = false;
  const end = () => {
    killGroup(child.pid, 'SIGTERM');
    setTimeout(() => killGroup(child.pid, 'SIGKILL'), GRACE).unref();
  };
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, limit);
  signal.addEventListener('abort', end, { once: true });
  const { exitCode, stderr } = await child;
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
  // Processes that the command left running belong to the same group.
  if (isLate || signal.aborted) killGroup(child.pid, 'SIGKILL');
  signal.throwIfAborted();
  return { isLate, exitCode, stderr };
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
