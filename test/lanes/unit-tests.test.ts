import { expect, test } from '@jest/globals';
import { readersOf } from './unit-tests.ts';

test.each([
  ['src/nodes/scripts/answer.sh', 'src/nodes/protocol.ts'],
  ['src/api/crds/storage.metalk8s.scality.com_volumes.yaml', 'src/api/crds.ts'],
  ['docs/volumes.md', 'test/lanes/choose.test.ts'],
])('readersOf finds, for %s, the reader %s', async (file, reader) => {
  expect(await readersOf(file)).toContain(reader);
});
