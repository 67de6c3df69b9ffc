import type { Io } from '../io.ts';
import type { ProgressTask } from './live-progress.ts';
import { printable } from './printable.ts';

/**
 * Runs tasks in parallel, and shows their state on standard error: live on a terminal, else a line
 * for each change. Returns their outcomes in order.
 */
export async function showProgress<T>(
  io: Io,
  tasks: readonly ProgressTask<T>[],
): Promise<PromiseSettledResult<T>[]> {
  if (io.stderr.isTTY && io.env.TERM !== 'dumb') {
    const { showLive } = await import('./live-progress.ts');
    return showLive(io.stderr, tasks);
  }
  return Promise.allSettled(
    tasks.map(({ title, run }) => {
      let last = '';
      return run((state) => {
        if (state !== last) io.stderr.write(`${title}: ${printable(state)}\n`);
        last = state;
      });
    }),
  );
}
