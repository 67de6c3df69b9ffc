import { expect, test } from '@jest/globals';
import type { PersistentVolumeClaim } from '../../../src/api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../../src/api/resources.ts';
import {
  type ActionRunnerDeps,
  createActionRunner,
} from '../../../src/controllers/populator/actions.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { memoryLogger } from '../../support/logger.ts';
import { claim, OWN, pod, prime, pv, UID } from './input.ts';

/** Creates the dependencies of actions. @param live the claim on the API server */
function world(live: PersistentVolumeClaim = claim()) {
  const patched: unknown[] = [];
  const deleted: unknown[] = [];
  const cache = { recordWrite() {} };
  const deps = {
    client: {
      get: async () => live,
      patch: async (_: unknown, name: string, patch: object) => {
        patched.push([name, patch]);
        return {};
      },
      delete: async (...args: unknown[]) => {
        deleted.push(args);
        if (deleted.length > 1)
          throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'DELETE');
      },
    },
    ...{
      claims: { ...cache, get: () => prime() },
      persistentVolumes: cache,
      pods: cache,
      namespace: OWN,
      logger: memoryLogger(),
    },
  } as unknown as ActionRunnerDeps;
  return { patched, deleted, run: createActionRunner(deps) };
}

const rebind = { do: 'rebind', pv: pv(), from: 'apps/source' } as const;
const again = { ...claim(), metadata: { ...claim().metadata, uid: 'another' } };
const bound = { ...claim(), spec: { ...claim().spec, volumeName: 'theirs' } };
const going = {
  ...claim(),
  metadata: { ...claim().metadata, deletionTimestamp: '2026-03-01T12:00:00Z' },
};

test('a filled volume is bound to the claim for which it was filled', async () => {
  const { run, patched } = world();
  expect(await run(rebind, UID, claim())).toBe(true);
  expect(patched).toEqual([
    [
      pv().metadata.name,
      expect.objectContaining({ spec: { claimRef: expect.objectContaining({ uid: UID }) } }),
    ],
  ]);
});

test.each<[string, PersistentVolumeClaim]>([
  ['a recreated claim', again],
  ['a claim that has another volume', bound],
  ['a claim that is being deleted', going],
])('a volume filled for a claim is not bound to %s', async (_, live) => {
  const { run, patched } = world(live);
  expect(await run(rebind, UID, claim())).toBe(false);
  expect(patched).toEqual([]);
});

test('annotations are written to the prime claim of the cache, and to none that replaced it', async () => {
  const { run, patched } = world();
  const { name, uid } = prime().metadata;
  await run({ do: 'mark-populated', pod: pod('Succeeded') }, UID, claim());
  expect(uid).toBeDefined();
  expect(patched).toEqual([[name, { metadata: { uid, annotations: expect.anything() } }]]);
});

test('a pod and a prime claim are deleted by UID, even if they are gone', async () => {
  const { run, deleted } = world();
  expect(await run({ do: 'delete-pod', pod: pod('Running') }, UID, claim())).toBe(true);
  expect(await run({ do: 'delete-prime', prime: prime() }, UID, claim())).toBe(true);
  const [ofPod, ofPrime] = [pod('Running').metadata, prime().metadata];
  expect(deleted).toEqual([
    [PODS, ofPod.name, { namespace: OWN, uid: ofPod.uid }],
    [PERSISTENT_VOLUME_CLAIMS, ofPrime.name, { namespace: OWN, uid: ofPrime.uid }],
  ]);
  expect([ofPod.uid, ofPrime.uid]).not.toContain(undefined);
});
