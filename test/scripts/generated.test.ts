import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { generated } from '../../scripts/generated.ts';

test.each([...generated()])('%s is what `npm run generate` writes', async (path, content) => {
  expect(await readFile(path, 'utf8')).toBe(content);
});

test('man/ has no page of a removed command', async () => {
  const made = [...generated().keys()].flatMap((path) =>
    path.startsWith('man/') ? [path.slice(4)] : [],
  );
  expect((await readdir('man')).toSorted()).toEqual(made.toSorted());
});
