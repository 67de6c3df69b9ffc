import { StowageError } from '../api/errors.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { ApiError, ConnectionError } from './errors.ts';
import type { Clock, KubeClient, RequestOptions } from './types.ts';

export interface WaitOptions<T extends KubeObject> extends RequestOptions {
  /** Given undefined while there is no such object. What it throws ends the wait. */
  until: (object: T | undefined) => boolean;
  /** ms. */
  timeoutMs: number;
  /** Told of every state that is seen, also of the last. */
  onChange?: (object: T | undefined) => void;
  clock: Clock;
}

const RETRY_MS = 1000;
/** Watches are that short, so that one whose connection is half open is noticed. */
const WATCH_MS = 60_000;

/**
 * Waits for an object to become what is wanted, and returns it. Connections may break meanwhile. Throws a StowageError
 * `timeout`, and at once what a request is refused with.
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
    // A watch that is ended when its minute is over may end with the abort of that, just as the time of all is over.
    throw signal.aborted ? signal.reason : error;
  } finally {
    over.abort();
  }
}

/** The object as it is, and then each time it changes, until the signal aborts: then it ends or throws. */
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
  // Selectors have syntax of their own (apimachinery, fields.EscapeValue).
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

/** Asking again would be answered the same. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StowageError &&
  (!(error instanceof ApiError) || [400, 401, 403, 404, 422].includes(error.statusCode)) &&
  !(error instanceof ConnectionError);

function timedOut(what: string, timeoutMs: number, cause: unknown): StowageError {
  return new StowageError('timeout', `${what}: waited ${timeoutMs / 1000} s in vain`, {
    hint: 'It may still come: look at it again later, or wait longer with --timeout.',
    cause,
  });
}
