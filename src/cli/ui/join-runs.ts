import { StowageError } from '../../api/errors.ts';

/**
 * Returns a function of which at most one run per key is in progress: further callers get its
 * result. So a page that asks again and again, and leaves before the answer, adds no work. It
 * rejects with a StowageError `failed` while `most` runs are in progress.
 * @param keyOf equal for requests of which one answers the others
 */
export function joinRuns<R, T>(
  most: number,
  keyOf: (request: R) => string,
  run: (request: R) => Promise<T>,
): (request: R) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return async (request) => {
    const key = keyOf(request);
    const joined = running.get(key);
    if (joined !== undefined) return joined;
    if (running.size >= most)
      throw new StowageError('failed', `${most} objects are being read already: retry`);
    const started = run(request).finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}
