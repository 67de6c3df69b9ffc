import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { EVENTS } from '../../src/api/resources.ts';
import { listAll } from '../../src/kube/client.ts';
import { ApiError, ConnectionError, isConflict, isNotFound } from '../../src/kube/errors.ts';
import type { WatchEvent } from '../../src/kube/types.ts';
import { type FakeApi, fakeApi, json, status, WIDGETS, widget } from '../support/fake-api.ts';

let api: FakeApi;
afterEach(() => api.close());

async function all(events: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe('requests', () => {
  test('carry method, path, query, body and headers as the API server wants them', async () => {
    api = await fakeApi((_, response) => json(response, widget('a', 1)));
    await api.client.get(WIDGETS, 'a b');
    await api.client.create(EVENTS, {
      ...widget('e', 0),
      metadata: { name: 'e', namespace: 'ns' },
    });
    await api.client.patch(
      WIDGETS,
      'a',
      { x: 1 },
      { subresource: 'status', dryRun: true, strict: true },
    );
    await api.client.patch(WIDGETS, 'a', [], { type: 'json' });
    await api.client.delete(WIDGETS, 'a', {
      uid: 'u',
      resourceVersion: '7',
      propagationPolicy: 'Foreground',
    });
    expect(api.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /apis/example.com/v1/widgets/a%20b',
      'POST /api/v1/namespaces/ns/events?fieldManager=stowage',
      'PATCH /apis/example.com/v1/widgets/a/status?fieldManager=stowage&dryRun=All&fieldValidation=Strict',
      'PATCH /apis/example.com/v1/widgets/a?fieldManager=stowage',
      'DELETE /apis/example.com/v1/widgets/a',
    ]);
    expect(api.seen.map(({ headers }) => headers['content-type'])).toEqual([
      undefined,
      'application/json',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/json',
    ]);
    expect(api.seen[0]?.headers['user-agent']).toBe('stowage/test');
    expect(JSON.parse(api.seen[4]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Foreground',
    });
  });

  test.each(['', '.', '..', 'a/status', 'a%2fstatus'])(
    'are refused for the name %j',
    async (name) => {
      api = await fakeApi((_, response) => json(response, {}));
      await expect(api.client.delete(WIDGETS, name)).rejects.toMatchObject({ code: 'usage' });
      await expect(api.client.list(EVENTS, { namespace: name })).rejects.toMatchObject({
        code: 'usage',
      });
      expect(api.seen).toEqual([]);
    },
  );

  test('never write a truncated list of finalizers', async () => {
    api = await fakeApi((_, response) => json(response, widget('a', 1)));
    const patch = (...finalizers: string[]) =>
      api.client.patch(WIDGETS, 'a', { metadata: { finalizers } });
    await patch('kubernetes.io/pvc-protection', 'orphan');
    await patch();
    await expect(patch('kubernetes.io/pvc-protection', '…')).rejects.toThrow(
      'so they stay unchanged',
    );
    expect(api.seen).toHaveLength(2);
  });

  test('need a namespace for one object of a namespaced kind', async () => {
    api = await fakeApi((_, response) => json(response, {}));
    await expect(api.client.get(EVENTS, 'x')).rejects.toMatchObject({ code: 'usage' });
    await expect(api.client.create(EVENTS, widget('x', 1))).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('lists', () => {
  test('set the kind of each item, and return [] for null items', async () => {
    const pages = [{ items: [{ metadata: { name: 'a' } }] }, { items: null }];
    api = await fakeApi((_, response) => json(response, { metadata: {}, ...pages.shift() }));
    const page = await api.client.list(WIDGETS, { labelSelector: 'a=b', limit: 3 });
    expect(api.seen[0]?.url).toBe('/apis/example.com/v1/widgets?labelSelector=a%3Db&limit=3');
    expect(page.items).toEqual([
      { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } },
    ]);
    expect((await api.client.list(WIDGETS)).items).toEqual([]);
  });

  test('are read to the last page', async () => {
    api = await fakeApi(({ url }, response) => {
      const last = url.includes('continue=t1');
      json(response, {
        metadata: { resourceVersion: '9', continue: last ? '' : 't1' },
        items: [widget(last ? 'b' : 'a', 1)],
      });
    });
    const { items, resourceVersion } = await listAll(api.client, WIDGETS, { resourceVersion: '0' });
    expect(items.map((item) => item.metadata.name)).toEqual(['a', 'b']);
    expect(resourceVersion).toBe('9');
    expect(api.seen[1]?.url).toBe('/apis/example.com/v1/widgets?continue=t1&limit=500');
  });

  test('are read in smaller pages where objects are large', async () => {
    const large = (name: string) => {
      const object = widget(name, 1);
      return {
        ...object,
        metadata: { ...object.metadata, annotations: { a: 'x'.repeat(250_000) } },
      };
    };
    const names = Array.from({ length: 60 }, (_, index) => `w${index}`);
    api = await fakeApi(({ url }, response) => {
      const query = new URL(url, 'http://x').searchParams;
      const begin = Number(query.get('continue') ?? 0);
      const end = begin + Number(query.get('limit'));
      const more = end < names.length ? { continue: String(end) } : {};
      json(response, {
        metadata: { resourceVersion: '9', ...more },
        items: names.slice(begin, end).map(large),
      });
    });
    const { items } = await listAll(api.client, WIDGETS);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(api.seen.map(({ url }) => /limit=(\d+)/.exec(url)?.[1])).toEqual([
      '500',
      '125',
      '32',
      '32',
    ]);
  });

  test('are refused if one object exceeds the size limit of a response', async () => {
    api = await fakeApi((_, response) =>
      json(response, { metadata: {}, items: [{ ...widget('a', 1), large: 'x'.repeat(9 << 20) }] }),
    );
    await expect(listAll(api.client, WIDGETS)).rejects.toThrow('the answer exceeds 8388608 bytes');
  });

  test('transform each page before the next is requested', async () => {
    const steps: string[] = [];
    api = await fakeApi(({ url }, response) => {
      steps.push('asked');
      const next = url.includes('continue=t1') ? '' : 't1';
      json(response, {
        metadata: { resourceVersion: '9', continue: next },
        items: [widget('a', 1)],
      });
    });
    const { items } = await listAll(api.client, WIDGETS, {}, (object) => {
      steps.push('kept');
      return { ...object, kind: 'less' };
    });
    expect(steps).toEqual(['asked', 'kept', 'asked', 'kept']);
    expect(items.map(({ kind }) => kind)).toEqual(['less', 'less']);
  });
});

describe('errors', () => {
  test.each([
    [404, 'NotFound', 'not-found'],
    [401, 'Unauthorized', 'forbidden'],
    [403, 'Forbidden', 'forbidden'],
    [409, 'Conflict', 'conflict'],
    [422, 'Invalid', 'failed'],
    [500, 'InternalError', 'failed'],
    [504, 'Timeout', 'timeout'],
  ])('a response with status %i is an ApiError', async (code, reason, errorCode) => {
    api = await fakeApi((_, response) => json(response, status(code, reason, 'because'), code));
    await expect(api.client.get(WIDGETS, 'a')).rejects.toMatchObject({
      name: 'ApiError',
      statusCode: code,
      code: errorCode,
      reason,
      message: 'because',
    });
  });

  test('AlreadyExists is no conflict', async () => {
    api = await fakeApi((_, response) => json(response, status(409, 'AlreadyExists'), 409));
    const error = await api.client.create(WIDGETS, widget('a', 1)).catch((e) => e);
    expect([isConflict(error), error.reason]).toEqual([false, 'AlreadyExists']);
  });

  test('quote the response of a proxy that does not speak the API', async () => {
    api = await fakeApi((_, response) => response.writeHead(502).end('<html>Bad Gateway'));
    await expect(api.client.get(WIDGETS, 'a')).rejects.toThrow(
      /GET .*\/a returned status 502: <html>Bad/,
    );
  });

  test('a response that is truncated or not JSON is a ConnectionError', async () => {
    api = await fakeApi(({ method }, response) => {
      if (method === 'GET') response.end('<html>');
      else
        response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
    });
    await expect(api.client.get(WIDGETS, 'a')).rejects.toThrow(ConnectionError);
    await expect(api.client.create(WIDGETS, widget('a', 1))).rejects.toThrow(ConnectionError);
  });

  test('a refused connection is an error that names the server', async () => {
    api = await fakeApi(() => {});
    await api.close();
    await expect(api.client.get(WIDGETS, 'a')).rejects.toMatchObject({
      code: 'failed',
      server: api.url,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test.each([
    ['headers', () => {}],
    [
      'body',
      (response: { writeHead(code: number): { write(text: string): void } }) =>
        response.writeHead(200).write('{'),
    ],
  ])('a request without response %s times out', async (_, answer) => {
    api = await fakeApi((_request, response) => answer(response as never), {
      requestTimeoutMs: 50,
    });
    await expect(api.client.get(WIDGETS, 'a')).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'timeout',
    });
  });

  test('a request times out if the exec plugin hangs', async () => {
    api = await fakeApi(() => {}, {
      requestTimeoutMs: 50,
      authenticate: () => new Promise(() => {}),
    });
    await expect(api.client.get(WIDGETS, 'a')).rejects.toMatchObject({ code: 'timeout' });
  });

  test('the error of the caller’s abort is thrown unchanged', async () => {
    const controller = new AbortController();
    api = await fakeApi(() => controller.abort(new Error('mine')));
    await expect(api.client.get(WIDGETS, 'a', { signal: controller.signal })).rejects.toThrow(
      /^mine$/,
    );
  });
});

test.each(['null', '7'])('reports the response %s, which is not a JSON object', async (text) => {
  api = await fakeApi((_, response) => response.end(text));
  await expect(api.client.get(WIDGETS, 'a')).rejects.toThrow(
    `the answer is not a JSON object: ${text}`,
  );
});

describe('a request', () => {
  test('is retried once with new credentials after a 401', async () => {
    api = await fakeApi(
      ({ headers }, response) =>
        headers.authorization === 'refused'
          ? json(response, widget('a', 1))
          : json(response, status(401, 'x'), 401),
      { authenticate: async (doubt) => ({ headers: { authorization: String(doubt) }, tls: {} }) },
    );
    await api.client.get(WIDGETS, 'a');
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual(['undefined', 'refused']);
  });

  test('is retried after each 429 with a Retry-After', async () => {
    const answers = [429, 429, 200];
    api = await fakeApi((_, response) => {
      response.setHeader('retry-after', '0');
      json(response, status(429, 'TooManyRequests'), answers.shift());
    });
    await api.client.create(WIDGETS, widget('a', 1));
    expect(api.seen).toHaveLength(3);
  });

  test.each([
    ['GET', 2],
    ['POST', 1],
  ])('with method %s is sent %i time(s) if the connection breaks', async (method, requests) => {
    api = await fakeApi((_, response) => response.destroy());
    const sent =
      method === 'GET' ? api.client.get(WIDGETS, 'a') : api.client.create(WIDGETS, widget('a', 1));
    await expect(sent).rejects.toThrow(ConnectionError);
    expect(api.seen).toHaveLength(requests);
  });
});

describe('watches', () => {
  test('split events at newlines, even if chunks end within a character', async () => {
    const events = ['é', '\u2028', '𝄞'].map((text, i) => ({
      type: 'ADDED',
      object: widget('a', i, { text }),
    }));
    const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    api = await fakeApi((_, response) => {
      response.socket?.setNoDelay();
      const writeFrom = (i: number): unknown =>
        i < bytes.length
          ? response.write(bytes.subarray(i, i + 1), () => writeFrom(i + 1))
          : response.end();
      writeFrom(0);
    });
    const seen = await all(api.client.watch(WIDGETS, { resourceVersion: '1', timeoutSeconds: 9 }));
    expect(seen).toEqual(events);
    expect(api.seen[0]?.url).toBe(
      '/apis/example.com/v1/widgets?watch=true&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=9',
    );
  });

  test('throw the status of an ERROR event', async () => {
    api = await fakeApi((_, response) =>
      json(response, { type: 'ERROR', object: status(410, 'Expired') }),
    );
    const error = await all(api.client.watch(WIDGETS, { resourceVersion: '1' })).catch((e) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect([error.statusCode, isNotFound(error)]).toEqual([410, false]);
  });

  test.each(['end', 'destroy'] as const)(
    'throw when cut in the middle of a line (%s)',
    async (how) => {
      api = await fakeApi((_, response) => {
        response.write(
          `${JSON.stringify({ type: 'ADDED', object: widget('a', 1) })}\n{"type":"ADD`,
          () => response[how](),
        );
      });
      const seen: WatchEvent[] = [];
      const watching = (async () => {
        for await (const event of api.client.watch(WIDGETS, { resourceVersion: '1' }))
          seen.push(event);
      })();
      await expect(watching).rejects.toThrow(ConnectionError);
      expect(seen).toHaveLength(1);
    },
  );

  test('outlive the timeout of requests, and end with the abort', async () => {
    const controller = new AbortController();
    const opened = Promise.withResolvers<ServerResponse>();
    api = await fakeApi(
      ({ url }, response) => {
        if (!url.includes('watch=true')) return;
        response.flushHeaders();
        opened.resolve(response);
      },
      { requestTimeoutMs: 50 },
    );
    const watching = (async () => {
      for await (const _ of api.client.watch(WIDGETS, {
        resourceVersion: '1',
        signal: controller.signal,
      })) {
        controller.abort(new Error('enough'));
      }
    })();
    const response = await opened.promise;
    // A request that starts now ends after the watch would have timed out.
    await expect(api.client.get(WIDGETS, 'a')).rejects.toMatchObject({ code: 'timeout' });
    response.write(`${JSON.stringify({ type: 'ADDED', object: widget('a', 1) })}\n`);
    await expect(watching).rejects.toThrow('enough');
  });

  test('close the connection when the loop is left', async () => {
    let closed: () => void = () => {};
    const whenClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    api = await fakeApi((_, response) => {
      response.on('close', closed);
      response.write(`${JSON.stringify({ type: 'ADDED', object: widget('a', 1) })}\n`);
    });
    for await (const _ of api.client.watch(WIDGETS, { resourceVersion: '1' })) break;
    await whenClosed;
  });
});
