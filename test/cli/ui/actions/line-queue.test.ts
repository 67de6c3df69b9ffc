import { expect, test } from '@jest/globals';
import { createLineQueue } from '../../../../src/cli/ui/actions/line-queue.ts';

async function all(lines: AsyncGenerator<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

test('lines are read in order, before and while they come, until the last one', async () => {
  const queue = createLineQueue();
  queue.push('a');
  const read = all(queue.read(new AbortController().signal));
  await new Promise((resolve) => setImmediate(resolve));
  queue.push('b');
  queue.end('c');
  queue.push('d');
  expect(await read).toEqual(['a', 'b', 'c']);
});

test('a slow reader gets the newest lines, with the last one', async () => {
  const queue = createLineQueue();
  for (let index = 0; index < 2000; index += 1) queue.push(String(index));
  queue.end('end');
  const read = await all(queue.read(new AbortController().signal));
  expect(read).toHaveLength(500);
  expect(read.slice(-2)).toEqual(['1999', 'end']);
});

test('a reader that is gone reads no more', async () => {
  const queue = createLineQueue();
  const gone = new AbortController();
  const read = all(queue.read(gone.signal));
  await new Promise((resolve) => setImmediate(resolve));
  gone.abort();
  expect(await read).toEqual([]);
});
