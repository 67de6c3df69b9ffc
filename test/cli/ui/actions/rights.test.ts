import { expect, test } from '@jest/globals';
import {
  actionRights,
  createRightsReader,
  neededRights,
} from '../../../../src/cli/ui/actions/rights.ts';
import type { KubeClient } from '../../../../src/kube/types.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('the needed rights are those of the first write, with the namespace of namespaced kinds', () => {
  expect(neededRights('prod').map(([action, { group: _, ...right }]) => [action, right])).toEqual([
    ['createVolume', { resource: 'volumes', verb: 'create' }],
    ['deleteVolume', { resource: 'volumes', verb: 'delete' }],
    ['resizeVolume', { resource: 'volumes', verb: 'patch' }],
    ['retryVolume', { resource: 'volumes', verb: 'patch' }],
    ['pauseVolume', { resource: 'volumes', verb: 'patch' }],
    ['resumeVolume', { resource: 'volumes', verb: 'patch' }],
    ['pauseNode', { resource: 'nodes', verb: 'patch' }],
    ['resumeNode', { resource: 'nodes', verb: 'patch' }],
    ['createSnapshot', { resource: 'volumesnapshots', verb: 'create', namespace: 'prod' }],
    ['restoreSnapshot', { resource: 'persistentvolumeclaims', verb: 'create', namespace: 'prod' }],
    ['grantSnapshot', { resource: 'referencegrants', verb: 'create', namespace: 'prod' }],
    ['revokeGrant', { resource: 'referencegrants', verb: 'delete', namespace: 'prod' }],
  ]);
});

test('an action without its right has the reason', () => {
  const rights = actionRights('prod', new Set(['deleteVolume', 'grantSnapshot']));
  expect(rights.deleteVolume).toEqual({ allowed: false, reason: 'You may not delete volumes' });
  expect(rights.grantSnapshot).toEqual({
    allowed: false,
    reason: 'You may not create referencegrants in namespace prod',
  });
  expect(rights.createVolume).toEqual({ allowed: true, reason: '' });
  expect(rights.detachVolume).toEqual({ allowed: true, reason: '' });
});

/** Returns a client that answers reviews, and counts them. */
function reviewing(allows: (verb: string) => boolean | Error) {
  let count = 0;
  const client = {
    async create(_resource: object, review: { spec?: { resourceAttributes: { verb: string } } }) {
      count += 1;
      const allowed = allows(review.spec?.resourceAttributes.verb ?? '');
      if (allowed instanceof Error) throw allowed;
      return { ...review, status: { allowed } };
    },
  } as unknown as KubeClient;
  return { client, count: () => count };
}

test('rights are read once a minute for each namespace', async () => {
  const { client, count } = reviewing((verb) => verb !== 'delete');
  const clock = new FakeClock();
  const read = createRightsReader({ client }, clock, new AbortController().signal);
  const [first, second] = await Promise.all([read('a'), read('a')]);
  expect(first).toBe(second);
  expect(first).toMatchObject({
    ...{ deleteVolume: { allowed: false }, createVolume: { allowed: true } },
    revokeGrant: { allowed: false },
  });
  expect(count()).toBe(12);
  await read('b');
  expect(count()).toBe(24);
  await clock.advance(60_000);
  await read('a');
  expect(count()).toBe(36);
});

test('a review that fails denies nothing', async () => {
  const { client } = reviewing(() => new Error('down'));
  const read = createRightsReader({ client }, new FakeClock(), new AbortController().signal);
  expect(Object.values(await read('a')).every(({ allowed }) => allowed)).toBe(true);
});
