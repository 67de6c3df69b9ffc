import { expect, test } from '@jest/globals';
import { needsAction } from '../../../src/cli/why/needs-action.ts';
import type { Fix } from '../../../src/cli/why/types.ts';
import { NOW } from '../../support/cluster-objects.ts';

const object = { kind: 'PersistentVolumeClaim', namespace: 'test', name: 'foo' };

test.each<[string, Fix, string]>([
  ['a command', { say: 'Create it:', run: ['true', 'false'] }, 'Create it: true; false'],
  [
    'a manifest',
    { say: 'Create it.', manifest: {} },
    'Create it. To print the manifest: stowage why persistentvolumeclaim test/foo',
  ],
])('the error that ends a wait has a hint for %s', async (_, fix, hint) => {
  const blocker = { cause: 'NoConsumer', holdup: 'no pod', fix } as const;
  const error = await needsAction(blocker, object, {} as never, NOW, AbortSignal.timeout(1000));
  expect(error).toMatchObject({ code: 'conflict', hint });
});
