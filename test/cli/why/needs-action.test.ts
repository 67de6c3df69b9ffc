import { expect, test } from '@jest/globals';
import { hintInCluster } from '../../../src/cli/lib/in-cluster.ts';
import { needsAction } from '../../../src/cli/why/needs-action.ts';
import type { Fix } from '../../../src/cli/why/types.ts';
import { NOW } from '../../support/cluster-objects.ts';

const object = { kind: 'PersistentVolumeClaim', namespace: 'test', name: 'foo' };

test.each<[string, Fix, string]>([
  ['commands', { say: 'Create it:', run: ['true', 'false'] }, 'Create it: true; false'],
  [
    'commands of a cluster',
    {
      say: 'Delete it, and create it again.',
      run: ['kubectl delete sc a', 'stowage retry volume b'],
    },
    'Delete it, and create it again: kubectl --context c delete sc a; stowage --context c retry volume b',
  ],
  [
    'a manifest',
    { say: 'Create it.', manifest: {} },
    'Create it. To print the manifest: stowage --context c why persistentvolumeclaim test/foo',
  ],
])('the error that ends a wait has a hint for %s', async (_, fix, hint) => {
  const blocker = { cause: 'NoConsumer', holdup: 'no pod', fix } as const;
  const error = await needsAction(blocker, object, {} as never, NOW, AbortSignal.timeout(1000));
  expect(error?.code).toBe('conflict');
  expect(hintInCluster({ context: 'c' })(error?.hint ?? '')).toBe(hint);
});
