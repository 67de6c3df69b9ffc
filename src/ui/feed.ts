import { forgetKey, RequestError, request } from './api.ts';
import { lineSplitter } from './lines.ts';
import type { FeedMessage } from './protocol.ts';
import type { Store } from './store.ts';

/** Bounds (ms) of the time between tries to reach `stowage ui`. */
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 5000;

/** Follows the feed for as long as the page is open and its key is valid. */
export async function followFeed(store: Store): Promise<void> {
  let wait = SHORTEST_WAIT;
  for (;;) {
    try {
      const { body } = await request('/api/feed');
      store.setLink('open');
      wait = SHORTEST_WAIT;
      await readAll(body, store);
    } catch (error) {
      if (error instanceof RequestError && error.code === 'no-key') {
        forgetKey();
        store.setLink('no-key');
        return;
      }
    }
    store.setLink('lost');
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(LONGEST_WAIT, wait * 2);
  }
}

async function readAll(body: ReadableStream<Uint8Array> | null, store: Store): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const split = lineSplitter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = split(decoder.decode(value, { stream: true }));
    store.take(lines.map((line) => JSON.parse(line) as FeedMessage));
  }
}
