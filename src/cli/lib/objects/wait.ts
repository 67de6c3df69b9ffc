import { type ErrorObject, StowageError } from '../../../api/errors.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { waitFor } from '../../../kube/wait.ts';
import type { Io } from '../io.ts';
import { showProgress } from '../output/progress.ts';

/** Delay of the first check whether a person is needed, and interval of the next checks, in ms. */
const ASK_AFTER = 3000;
const ASK_EVERY = 5000;

/**
 * Returns the error that ends a wait if only a person can resolve it. `now`: ms since the epoch.
 */
export type NeedsAction = (
  object: ErrorObject & { namespace: string },
  connection: Connection,
  now: number,
  signal: AbortSignal,
) => Promise<StowageError | undefined>;

interface Waited<T> {
  uid: string | undefined;
  timeoutMs: number;
  isDone: (object: T) => boolean;
  /** Returns the state of the object, in one line. */
  progressOf: (object: T) => string;
  /** Hint for the timeout error. */
  hint: string;
  /** Returns the error that ends the wait if only a person can resolve it. Called periodically. */
  needsAction?: (signal: AbortSignal) => Promise<StowageError | undefined>;
  /** Reports what other components state about the object, until the signal aborts. */
  alongside?: (report: (text: string) => void, signal: AbortSignal) => Promise<void>;
}

/**
 * Waits for an object in a namespace, and shows its state on standard error. Throws a StowageError:
 * `timeout` with the last state, or `not-found` if the object was deleted. Also throws the error of
 * `needsAction`.
 */
export async function waited<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: ErrorObject & { namespace: string },
  io: Io,
  { uid, timeoutMs, isDone, progressOf, hint, needsAction, alongside }: Waited<T>,
): Promise<T> {
  const { namespace, name } = object;
  const what = `${resource.kind} ${namespace}/${name}`;
  let last = 'it was not observed';
  const run = async (report: (state: string) => void): Promise<T> => {
    let state = '';
    let note = '';
    const show = () => {
      last = note === '' ? state : `${state}; ${note}`;
      report(last);
    };
    const over = new AbortController();
    const signal = AbortSignal.any([io.signal, over.signal]);
    const asking =
      needsAction && askWhile(needsAction, io, signal).then((error) => over.abort(error));
    asking?.catch(() => {});
    // For people only: its errors do not end the wait.
    const beside = alongside?.((text) => {
      note = text;
      show();
    }, signal).catch(() => {});
    try {
      const found = await waitFor<T>(client, resource, name, {
        namespace,
        until: (now) => {
          if (now === undefined || now.metadata.uid !== uid) {
            throw new StowageError('not-found', `${what} was deleted during the wait`, {
              object,
            });
          }
          return isDone(now);
        },
        onChange: (now) => {
          if (now === undefined) return;
          state = progressOf(now);
          show();
        },
        timeoutMs,
        signal,
        clock: io.clock,
      });
      return found as T;
    } finally {
      over.abort();
      await beside;
    }
  };
  const [outcome] = await showProgress(io, [{ title: name, run }]);
  if (outcome?.status === 'fulfilled') return outcome.value;
  const reason: unknown = outcome?.reason;
  if (!(reason instanceof StowageError) || reason.code !== 'timeout') throw reason;
  throw new StowageError('timeout', `${what}: timed out after ${timeoutMs / 1000} s: ${last}`, {
    hint,
    object,
    cause: reason,
  });
}

/** Resolves with the error that ends the wait; ignores failed checks. Rejects on abort. */
async function askWhile(
  needsAction: (signal: AbortSignal) => Promise<StowageError | undefined>,
  { clock }: Pick<Io, 'clock'>,
  signal: AbortSignal,
): Promise<StowageError> {
  for (let ms = ASK_AFTER; ; ms = ASK_EVERY) {
    await clock.sleep(ms, signal);
    const error = await needsAction(signal).catch(() => undefined);
    if (error !== undefined) return error;
  }
}
