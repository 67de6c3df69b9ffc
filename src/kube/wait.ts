import { StowageError } from '../api/errors.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { ApiError, ConnectionError } from './errors.ts';
import type { Clock, KubeClient, RequestOptions } from './types.ts';

export interface WaitOptions<T extends KubeObject> extends RequestOptions {
  /** Called with undefined while the object does not exist. An error thrown here ends the wait. */
  until: (object: T | undefined) => boolean;
  /** ms. */
  timeoutMs: number;
  /** Called with every observed state, including the last one. */
  onChange?: (object: T | undefined) => void;
  clock: Clock;
}

const RETRY_MS = 1000;
/** Duration of a watch (ms), so short that a half-open connection is noticed. */
const WATCH_MS = 60_000;

/**
 * Waits until `until` accepts the object, and returns it, across broken connections. Throws a
 * StowageError `timeout`, and at once the error of a refused request.
 */
export async function waitFor<T extends KubeObject>(
  client: Pick<KubeClient, 'list' | 'watch'>,
  resource: Resource,
  name: string,
  options: WaitOptions<T>,
): Promise<T | undefined> {
  const { clock, timeoutMs, until, onChange, signal: callers } = options;
  const over = new AbortController();
  const signal = callers === undefined ? over.signal : AbortSignal.any([callers, over.signal]);
  let broken: unknown;
  clock.sleep(timeoutMs, over.signal).then(
    () => over.abort(timedOut(`${resource.kind} ${name}`, timeoutMs, broken)),
    () => {},
  );
  const onBreak = (error: unknown) => {
    broken = error;
  };
  try {
    for await (const object of states<T>(client, resource, name, { ...options, signal, onBreak })) {
      onChange?.(object);
      if (until(object)) return object;
    }
    throw signal.reason;
  } catch (error) {
    // The abort of a single watch may coincide with the end of the whole wait, whose reason counts.
    throw signal.aborted ? signal.reason : error;
  } finally {
    over.abort();
  }
}

/** Yields the object's state, and then each change. Ends or throws once the signal aborts. */
async function* states<T extends KubeObject>(
  client: Pick<KubeClient, 'list' | 'watch'>,
  resource: Resource,
  name: string,
  options: {
    namespace?: string | undefined;
    clock: Clock;
    signal: AbortSignal;
    onBreak: (error: unknown) => void;
  },
): AsyncGenerator<T | undefined> {
  const { namespace, clock, signal, onBreak } = options;
  // Field selectors have escapes of their own (apimachinery, fields.EscapeValue).
  const select = { namespace, fieldSelector: `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}` };
  while (!signal.aborted) {
    const attempt = new AbortController();
    clock.sleep(WATCH_MS, attempt.signal).then(
      () => attempt.abort(),
      () => {},
    );
    const watching = { ...select, signal: AbortSignal.any([signal, attempt.signal]) };
    try {
      const { items, metadata } = await client.list<T>(resource, watching);
      yield items[0];
      const { resourceVersion } = metadata;
      for await (const { type, object } of client.watch<T>(resource, {
        ...watching,
        resourceVersion,
      })) {
        if (type !== 'BOOKMARK') yield type === 'DELETED' ? undefined : object;
      }
    } catch (error) {
      if (signal.aborted || isRefusal(error)) throw error;
      onBreak(error);
    } finally {
      attempt.abort();
    }
    await clock.sleep(RETRY_MS, signal).catch(() => {});
  }
}

/** Reports whether another request would get the same answer. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StowageError &&
  (!(error instanceof ApiError) || [400, 401, 403, 404, 422].includes(error.statusCode)) &&
  !(error instanceof ConnectionError);

function timedOut(what: string, timeoutMs: number, cause: unknown): StowageError {
  return new StowageError('timeout', `${what}: timed out after ${timeoutMs / 1000} s`, {
    hint: 'Check it again later, or wait longer with --timeout.',
    cause,
  });
}
