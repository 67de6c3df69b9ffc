import { expect, test } from '@jest/globals';
import { lines } from '../../src/kube/ndjson.ts';

async function split(chunks: Buffer[]): Promise<string[]> {
  async function* stream() {
    yield* chunks;
  }
  const seen: string[] = [];
  for await (const line of lines(stream())) seen.push(line);
  return seen;
}

const text = 'é\n\u2028𝄞\r\n\n漢字\nhalf';
const expected = ['é', '\u2028𝄞\r', '漢字', 'half'];

test.each([1, 2, 3, 5, 1000])('chunks of %i bytes yield the same lines', async (size) => {
  const bytes = Buffer.from(text);
  const chunks = [];
  for (let i = 0; i < bytes.length; i += size) chunks.push(bytes.subarray(i, i + size));
  expect(await split(chunks)).toEqual(expected);
});

test('a final newline yields no empty line', async () => {
  expect(await split([Buffer.from('a\n')])).toEqual(['a']);
});
