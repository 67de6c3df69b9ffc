import { StowageError } from '../../api/errors.ts';

/**
 * Returns a function of which at most one run per name is in progress: further callers get its
 * result. So a page that asks again and again, and leaves before the answer, adds no work. It
 * rejects with a StowageError `failed` while `most` runs are in progress.
 */
export function joinRuns<T>(
  most: number,
  run: (name: string) => Promise<T>,
): (name: string) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return async (name) => {
    const joined = running.get(name);
    if (joined !== undefined) return joined;
    if (running.size >= most)
      throw new StowageError('failed', `${most} objects are being read already: retry`);
    const started = run(name).finally(() => running.delete(name));
    running.set(name, started);
    return started;
  };
}
