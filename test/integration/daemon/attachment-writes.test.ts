import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PODS, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { until } from '../../support/until.ts';

/** Writes to an OnDemand Volume's objects while it is attached and detached. */

let at: AttachmentCluster;

beforeEach(async () => {
  at = await startAttachmentCluster();
  await at.start();
  await at.createOnDemand('a');
});
afterEach(() => at.end());

const labelPod = () =>
  at.client.patch(PODS, 'p1', { metadata: { labels: { a: 'b' } } }, { namespace: 'default' });

test('an attach and a detach write each object once', async () => {
  const written = async (change: () => Promise<unknown>, done: () => Promise<boolean>) => {
    at.writes.splice(0);
    await change();
    await until('all writes are done', async () => ((await done()) ? true : undefined));
    return at.writes.map(({ what }) => what).toSorted();
  };
  const hasDevice = async (device: boolean) =>
    ((await at.volume('a')).status?.deviceName !== undefined) === device;
  const attaching = await written(
    () => at.createPod('p1', 'a'),
    async () => (await at.podCondition('p1'))?.status === 'True' && (await hasDevice(true)),
  );
  // The status has the node and the device.
  const status = 'volumes/status a';
  expect(attaching).toEqual(['persistentvolumes a', 'pods/status p1', status]);
  const detaching = await written(
    () => at.deletePod('p1'),
    async () => (await at.record('a')) === '[]' && (await hasDevice(false)),
  );
  expect(detaching).toEqual(['persistentvolumes a', status]);
});

test('the Volume controller does not write deviceName during a detach', async () => {
  await at.createPod('p1', 'a');
  await at.isAttached('a');
  await at.createVolume('b');
  await at.isAvailable('b');
  const { submit } = at.nodes;
  let during: string | undefined;
  at.nodes.submit = async (...job) => {
    at.nodes.submit = submit;
    const state = await submit(...job);
    // Both Volumes need a reconcile, and a comes first.
    for (const name of ['a', 'b']) {
      await at.client.patch(VOLUMES, name, { spec: { sparseLoopDevice: { size: '64Mi' } } });
    }
    await until('b is reconciled', async () =>
      (await at.volume('b')).status?.job?.startsWith('GrowVolume') ? true : undefined,
    );
    during = (await at.volume('a')).status?.deviceName;
    return state;
  };
  await at.deletePod('p1');
  await at.isDetached('a');
  expect(during).toBe('loop0');
  await until('a is reconciled', async () =>
    (await at.volume('a')).status?.observedGeneration === 2 ? true : undefined,
  );
  expect((await at.volume('a')).status?.deviceName).toBeUndefined();
});

test('an attach shorter than a second writes only its result, despite pod updates', async () => {
  const now = Date.now();
  // The second never passes, however long the attach takes.
  await at.restart({ clock: { ...systemClock, now: () => now, timeOfDay: () => now } });
  const { submit } = at.nodes;
  at.nodes.submit = async (node, job, waitMs) => {
    await labelPod();
    await at.caughtUp();
    return submit(node, job, waitMs);
  };
  await at.createPod('p1', 'a');
  await at.isTold('p1');
  const states = at.writes.flatMap(({ body }) =>
    ((JSON.parse(body) as Partial<Volume>).status?.attachments ?? []).map(({ state }) => state),
  );
  expect(states).toEqual(['Attached']);
});

test('a pod update causes no write and no node request for an idle Volume', async () => {
  await at.createPod('p1', 'a');
  await at.isTold('p1');
  await at.idle();
  const { asked } = at.nodes;
  at.writes.splice(0);
  await labelPod();
  await at.idle();
  expect(at.writes).toEqual([]);
  expect(at.nodes.asked).toBe(asked);
});
