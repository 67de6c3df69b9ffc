import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { generated } from '../../scripts/generated.ts';

test.each([...generated()])('%s is what `npm run generate` writes', async (path, content) => {
  expect(await readFile(path, 'utf8')).toBe(content);
});
