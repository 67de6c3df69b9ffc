/** Signal that aborts with the caller's, or after `ms` with an error that `isDeadline` accepts. */
export interface Deadline {
  signal: AbortSignal;
  /** Stops the timer, but not the caller's signal: only the start of a stream has a deadline. */
  clear(): void;
  /** Also stops listening to the caller's signal, which may live as long as the process. */
  release(): void;
}

class DeadlineExceeded extends Error {}

export const isDeadline = (error: unknown): boolean => error instanceof DeadlineExceeded;

/** Throws the caller's reason if the caller's signal has aborted already. */
export function startDeadline(ms: number, callers: AbortSignal | undefined): Deadline {
  callers?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DeadlineExceeded(`no answer within ${ms} ms`)),
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
