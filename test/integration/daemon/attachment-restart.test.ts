import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ATTACHED_NODES_ANNOTATION } from '../../../src/api/names.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { until } from '../../support/until.ts';

/** Recovery of attachments that an earlier process recorded. */

let at: AttachmentCluster;

beforeEach(async () => {
  at = await startAttachmentCluster();
  await at.start();
});
afterEach(() => at.end());

const recordNodes = (name: string, nodes: string | null) =>
  at.client.patch(PERSISTENT_VOLUMES, name, {
    metadata: { annotations: { [ATTACHED_NODES_ANNOTATION]: nodes } },
  });

test('verifying many Volumes after a restart writes none of them', async () => {
  // More than a node verifies concurrently.
  const names = Array.from({ length: 30 }, (_, index) => `v${index}`);
  for (const name of names) await at.createVolume(name);
  for (const name of names) await at.isAvailable(name);
  for (const name of names) await at.isAttached(name);
  await at.idle();
  await at.stop();
  at.writes.splice(0);
  const verified = new Set<string>();
  const gate = Promise.withResolvers<void>();
  const { observe } = at.nodes;
  at.nodes.observe = async (node, probes) => {
    await gate.promise;
    for (const uid of JSON.stringify(probes).match(/[0-9a-f-]{36}/g) ?? []) verified.add(uid);
    return observe(node, probes);
  };
  const now = Date.now();
  // A verification is shown one second after its begin. With this clock that second never passes,
  // even on a slow machine.
  await at.start({ clock: { ...systemClock, now: () => now, timeOfDay: () => now } });
  await until('the verification of all Volumes has begun', async () => {
    const operations = at.lines().filter(({ message }) => message === 'operation');
    return (
      new Set(operations.map(({ fields }) => fields.volume)).size === names.length || undefined
    );
  });
  expect(at.writes).toEqual([]);
  gate.resolve();
  await until('all Volumes are verified', async () => verified.size >= names.length || undefined);
  await at.idle();
  expect(at.writes).toEqual([]);
});

test('recorded nodes that cannot have the Volume block no attach and are removed', async () => {
  await at.createVolume('a');
  await at.isAvailable('a');
  await at.isAttached('a');
  await at.createNode('n9');
  at.nodes.away.add('n9');
  await at.stop();
  at.nodes.detachAll('n1');
  await recordNodes('a', '["n1","n8","n9"]');
  await at.start();
  await at.hasLoops(1);
  await until('the annotation lists only n1', async () =>
    (await at.record('a')) === '["n1"]' ? true : undefined,
  );
  expect(await at.isAttached('a')).toMatchObject({ node: 'n1', state: 'Attached' });
  expect(await at.attachments('a')).toHaveLength(1);
  expect((await at.events('a')).map(({ reason }) => reason)).not.toContain('ForcedDetach');
});

describe('an OnDemand Volume that is attached for a pod', () => {
  beforeEach(async () => {
    await at.createOnDemand('a');
    await at.createPod('p1', 'a');
    await at.isAttached('a');
  });

  test('gets no job and no second event for its pod after a restart', async () => {
    const told = async () =>
      (await at.events('p1')).filter(({ reason }) => reason === 'SuccessfulAttachVolume').length;
    await at.event('p1', 'SuccessfulAttachVolume');
    const jobs = at.nodes.started;
    await at.restart();
    await at.idle();
    expect(await at.attachments('a')).toMatchObject([{ state: 'Attached', safeToMount: true }]);
    expect(at.nodes.started).toBe(jobs);
    expect((await at.podCondition('p1'))?.status).toBe('True');
    expect(await told()).toBe(1);
  });

  test('is detached after a restart without any record of it, if no pod needs it', async () => {
    await at.stop();
    await at.deletePod('p1');
    await at.client.patch(
      VOLUMES,
      'a',
      { status: { attachments: null } },
      { subresource: 'status' },
    );
    await recordNodes('a', null);
    await at.start();
    await at.hasLoops(0);
  });
});
