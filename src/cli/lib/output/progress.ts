import type { Io } from '../io.ts';
import type { ProgressTask } from './live-progress.ts';
import { printable } from './printable.ts';

/**
 * Runs tasks side by side and shows on standard error where they are: live on a terminal, else a line for each change.
 * How they ended is returned in their order.
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
