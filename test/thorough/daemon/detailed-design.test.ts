import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { type HeldNodes, heldNodes } from '../../support/held-nodes.ts';
import { until } from '../../support/until.ts';

/**
 * Statements of "Detailed Design" in the specification of the attach/detach controller that need
 * more than decisions. Runs the controller in the daemon, with a sandbox's API server and nodes in
 * memory.
 */

let at: AttachmentCluster;
let nodes: HeldNodes;

beforeEach(async () => {
  at = await startAttachmentCluster();
  nodes = heldNodes(at.nodes);
});
afterEach(() => at.end());

const start = () => at.start({ executor: nodes });
const loops = () => at.nodes.loopsOn('n1');

describe('Attach/Detach Controller', () => {
  test('restores attachments from the annotations of PersistentVolumes at startup', async () => {
    await start();
    await at.createAttached('a');
    await at.stop();
    await at.client.patch(
      VOLUMES,
      'a',
      { status: { attachments: null } },
      { subresource: 'status' },
    );
    await at.deletePod('p1');
    // The annotation is the only source: the node cannot be observed, and no pod uses the volume.
    // The attachment is uncertain.
    at.nodes.away.add('n1');
    await start();
    const shown = await until('the attachment exists', async () => (await at.attachments('a'))[0]);
    expect(shown).toMatchObject({ node: 'n1', state: 'Uncertain', safeToMount: false, pods: [] });
    expect(at.recordsWritten('a')).toEqual(['["n1"]']);
    at.nodes.away.clear();
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await at.isDetached('a');
    expect(loops()).toBe(0);
  });

  test('writes the node list only when it changes, also the empty list', async () => {
    await start();
    await at.createAttached('a');
    await at.createPod('p2', 'a');
    await at.isTold('p2');
    await at.deletePod('p1');
    await until('one pod is left', async () =>
      (await at.attachments('a'))[0]?.pods.join() === 'default/p2' ? true : undefined,
    );
    await at.idle();
    expect(at.recordsWritten('a')).toEqual(['["n1"]']);
    await at.restart({ executor: nodes });
    await at.isAttached('a');
    await at.idle();
    expect(at.recordsWritten('a')).toEqual(['["n1"]']);
    await at.deletePod('p2');
    await at.isDetached('a');
    await at.idle();
    expect(at.recordsWritten('a')).toEqual(['["n1"]', '[]']);
  });

  test('does not block other attaches while one attach is pending', async () => {
    await start();
    await at.createNode('n2');
    await at.createOnDemand('stuck');
    await at.createOnDemand('here');
    await at.createOnDemand('there', 'n2');
    nodes.held.add('n1');
    await at.createPod('p1', 'stuck');
    await until('the job runs', async () => (nodes.waiting().length === 1 ? true : undefined));
    await at.createPod('p2', 'there', 'n2');
    await at.isAttached('there', 'n2');
    // Another operation on its node is not blocked, either.
    await at.createPod('p3', 'here');
    await until('both jobs run', async () => (nodes.waiting().length === 2 ? true : undefined));
    expect(await at.attachments('stuck')).toMatchObject([]);
    nodes.held.clear();
    await at.isAttached('stuck');
    await at.isAttached('here');
  });

  test('does not block other attaches while a detach is pending', async () => {
    await start();
    await at.createNode('n2');
    await at.createOnDemand('there', 'n2');
    await at.createAttached('stuck');
    nodes.held.add('n1');
    await at.deletePod('p1');
    await until('the job runs', async () => (nodes.waiting().length === 1 ? true : undefined));
    await at.createPod('p2', 'there', 'n2');
    await at.isAttached('there', 'n2');
    expect(nodes.waiting()).toHaveLength(1);
    nodes.held.clear();
    await at.isDetached('stuck');
    expect(loops()).toBe(0);
  });

  test('runs only one attach or detach operation per volume at a time', async () => {
    await start();
    await at.createOnDemand('a');
    nodes.held.add('n1');
    await at.createPod('p1', 'a');
    await until('the job runs', async () => (nodes.waiting().length === 1 ? true : undefined));
    // Each of these events would require another operation.
    await at.deletePod('p1');
    await at.createPod('p2', 'a');
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await at.deletePod('p2');
    await until('the attachment is Attaching', async () =>
      (await at.attachments('a'))[0]?.state === 'Attaching' ? true : undefined,
    );
    expect(nodes.submitted).toHaveLength(1);
    nodes.held.clear();
    await at.isDetached('a');
    expect(nodes.submitted.map(({ id }) => id.split('-')[0])).toEqual(['attach', 'detach']);
    expect(loops()).toBe(0);
  });

  test('limits concurrent operations per node, and queues further ones', async () => {
    await start();
    await at.createNode('n2');
    await at.createOnDemand('other', 'n2');
    const names = Array.from({ length: 10 }, (_, index) => `v${index}`);
    await Promise.all(names.map((name) => at.createOnDemand(name)));
    nodes.held.add('n1');
    await Promise.all(names.map((name) => at.createPod(name, name)));
    await until('eight jobs run', async () => (nodes.waiting().length === 8 ? true : undefined));
    // Detaches, and other nodes, have separate limits.
    await at.createPod('other', 'other', 'n2');
    await at.isAttached('other', 'n2');
    await at.deletePod('other');
    await at.isDetached('other');
    expect(nodes.waiting()).toHaveLength(8);
    nodes.held.clear();
    await Promise.all(names.map((name) => at.isAttached(name)));
    expect(loops()).toBe(10);
    // Each concurrent attach has a separate number.
    expect(nodes.submitted.filter(({ node }) => node === 'n1')).toHaveLength(10);
  });

  test('starts no operation and writes no record while it is disabled', async () => {
    await start();
    await at.createVolume('always');
    await at.isAttached('always');
    await at.isAvailable('always');
    await at.createOnDemand('a');
    await at.idle();
    const { started } = at.nodes;
    const written = [at.recordsWritten('a'), at.recordsWritten('always')];

    await at.restart({ executor: nodes, attachment: false });
    await at.createPod('p1', 'a');
    await at.idle();
    expect(at.nodes.started).toBe(started);
    expect(loops()).toBe(1);
    expect([at.recordsWritten('a'), at.recordsWritten('always')]).toEqual(written);
    expect(await at.attachments('always')).toMatchObject([{ node: 'n1', state: 'Attached' }]);

    // Enabled again, the controller does not change a correct state.
    await at.deletePod('p1');
    await at.restart({ executor: nodes });
    await at.idle();
    expect(at.nodes.started).toBe(started);
    expect([at.recordsWritten('a'), at.recordsWritten('always')]).toEqual(written);
  });

  test('makes Volumes report that it is disabled, and handles them once enabled', async () => {
    await start();
    await at.createVolume('always');
    await at.isAttached('always');
    await at.isAvailable('always');
    await at.stop();
    at.nodes.detachAll('n1');
    const { started } = at.nodes;
    const ready = async ({ status }: Volume) =>
      status?.conditions?.find(({ type }) => type === 'Ready');
    await at.start({ executor: nodes, attachment: false });
    await until('Ready has reason AttachmentDisabled', async () =>
      (await ready(await at.volume('always')))?.reason === 'AttachmentDisabled' ? true : undefined,
    );
    await at.client.delete(VOLUMES, 'always');
    await at.idle();
    expect(at.nodes.started).toBe(started);
    expect((await ready(await at.volume('always')))?.message).toMatch(/attach/);
    await at.restart({ executor: nodes });
    await at.isGone('always');
    expect(loops()).toBe(0);
  });
});
