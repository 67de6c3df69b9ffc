/** A signal that aborts with the caller's, or after `ms` with an error that `isDeadline` knows. */
export interface Deadline {
  signal: AbortSignal;
  /** Stops the timer and leaves the caller's signal in force: for streams, whose beginning alone has a deadline. */
  clear(): void;
  /** Also lets go of the caller's signal, which may live as long as the process. */
  release(): void;
}

class DeadlineExceeded extends Error {}

export const isDeadline = (error: unknown): boolean => error instanceof DeadlineExceeded;

/** Throws the caller's reason when that has aborted already. */
export function startDeadline(ms: number, callers: AbortSignal | undefined): Deadline {
  callers?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DeadlineExceeded(`no answer in ${ms} ms`)),
    ms,
  );
  const onAbort = () => controller.abort(callers?.reason);
  callers?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    clear: () => clearTimeout(timer),
    release: () => {
      clearTimeout(timer);
      callers?.removeEventListener('abort', onAbort);
    },
  };
}
