import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NODES, PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../../src/api/resources.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { until } from '../../support/until.ts';

/**
 * The attachdetach controller in the daemon, with a sandbox's API server and nodes in memory that
 * run jobs.
 */

const NAMESPACE = 'default';
/** Time in ms that exceeds the second after which an operation's progress is shown. */
const PAST_PROGRESS = 2000;

let at: AttachmentCluster;

beforeEach(async () => {
  at = await startAttachmentCluster();
  await at.start();
});
afterEach(() => at.end());

describe('an Always Volume', () => {
  test('is attached to its node, which its PersistentVolume records', async () => {
    await at.createVolume('a');
    expect(await at.isAttached('a')).toMatchObject({
      state: 'Attached',
      safeToMount: true,
      pods: [],
    });
    expect(await at.record('a')).toBe('["n1"]');
  });

  test('is attached to a node without a Node object, and detached before it is deleted', async () => {
    await at.client.delete(NODES, 'n1');
    await at.createVolume('a');
    await at.isAttached('a');
    await at.client.delete(VOLUMES, 'a');
    await at.isGone('a');
    expect(at.nodes.loopsOn('n1')).toBe(0);
  });

  test('is attached again after a manual detach', async () => {
    await at.createVolume('a');
    await at.isAttached('a');
    await at.isAvailable('a');
    at.nodes.detachAll('n1');
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await at.hasLoops(1);
    await at.isAttached('a');
    await at.isAvailable('a');
  });
});

describe('an OnDemand Volume', () => {
  beforeEach(() => at.createOnDemand('a'));

  test('is provisioned without being attached', async () => {
    expect(at.nodes.loopsOn('n1')).toBe(0);
    expect(await at.record('a')).toBe('[]');
  });

  test('is attached for the first pod, with an event, and detached after the last', async () => {
    await at.createPod('p1', 'a');
    expect(await at.isAttached('a')).toMatchObject({ pods: ['default/p1'] });
    await at.createPod('p2', 'a');
    const podsLeft = (count: number) =>
      until(`${count} pods are listed`, async () =>
        (await at.attachments('a'))[0]?.pods.length === count ? true : undefined,
      );
    await podsLeft(2);
    await at.isTold('p2');
    const jobs = at.nodes.started;
    expect(await at.record('a')).toBe('["n1"]');
    expect((await at.podCondition('p1'))?.status).toBe('True');
    await at.event('p1', 'SuccessfulAttachVolume');
    await at.deletePod('p1');
    await podsLeft(1);
    expect(at.nodes.started).toBe(jobs);
    await at.deletePod('p2');
    await at.isDetached('a');
    expect(at.nodes.started).toBe(jobs + 1);
    expect(at.nodes.loopsOn('n1')).toBe(0);
  });

  test('is not attached for a pod on an unsuitable node, and an event reports why', async () => {
    await at.createNode('n2');
    await at.createPod('p1', 'a', 'n2');
    const condition = await until('the pod has a condition', () => at.podCondition('p1'));
    expect(condition).toMatchObject({ status: 'False', reason: 'VolumesNotAttached' });
    expect(condition.message).toContain('n2');
    await at.event('p1', 'FailedAttachVolume');
    expect(at.nodes.loopsOn('n2')).toBe(0);
  });

  test('is detached after its pod is deleted, even if the claim is already gone', async () => {
    await at.createPod('p1', 'a');
    await at.isAttached('a');
    const unprotected = { metadata: { finalizers: null } };
    await at.client.delete(PERSISTENT_VOLUME_CLAIMS, 'a', { namespace: NAMESPACE });
    await at.client.patch(PERSISTENT_VOLUME_CLAIMS, 'a', unprotected, { namespace: NAMESPACE });
    await until('the claim is gone', async () =>
      (await at.client
        .get(PERSISTENT_VOLUME_CLAIMS, 'a', { namespace: NAMESPACE })
        .catch(() => undefined)) === undefined
        ? true
        : undefined,
    );
    await at.idle(PAST_PROGRESS);
    expect(await at.isAttached('a')).toMatchObject({ pods: ['default/p1'] });
    await at.deletePod('p1');
    await at.isDetached('a');
  });
});

describe('a status that names the device of another Volume', () => {
  /** Patches the status, as any user with access to it can. */
  const setPrepared = (name: string, prepared: object) =>
    at.client.patch(VOLUMES, name, { status: { prepared } }, { subresource: 'status' });

  test('detaches nothing, contacts no other node, and blocks attach until corrected', async () => {
    for (const name of ['a', 'b']) await at.createOnDemand(name);
    await at.createPod('p-b', 'b');
    await at.isAttached('b');
    await at.createNode('n9');
    const { prepared } = (await at.volume('a')).status ?? {};
    const { paths } = (await at.volume('b')).status?.prepared ?? {};
    const askedOf = new Set<string>();
    const { observe } = at.nodes;
    at.nodes.observe = (node, probes) => {
      askedOf.add(node);
      return observe(node, probes);
    };
    // On the same node, and on another one.
    for (const node of ['n1', 'n9']) {
      await at.stop();
      await setPrepared('a', { paths, node });
      await at.start();
      await until('the Volume is Failed', async () =>
        (await at.volume('a')).status?.phase === 'Failed' ? true : undefined,
      );
      await at.idle();
    }
    expect(at.nodes.loopsOn('n1')).toBe(1);
    expect([...askedOf]).not.toContain('n9');
    await at.createPod('p-a', 'a');
    const condition = await until('the pod has a condition', () => at.podCondition('p-a'));
    expect(condition.message).toContain('which Stowage did not write. No work is done');
    await at.event('p-a', 'FailedAttachVolume');
    await setPrepared('a', { ...prepared });
    await at.isAttached('a');
    expect(at.nodes.loopsOn('n1')).toBe(2);
  });
});
