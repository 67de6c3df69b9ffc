import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ATTACHED_NODES_ANNOTATION, MIRROR_POD_ANNOTATION } from '../../../src/api/names.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { createMetrics } from '../../../src/daemon/metrics/metrics.ts';
import { type AttachmentCluster, startAttachmentCluster } from '../../support/attachment-cluster.ts';
import { type HeldNodes, heldNodes } from '../../support/held-nodes.ts';
import { until } from '../../support/until.ts';

/**
 * The sentences of "Detailed Design" in the specification of the attach/detach controller that more than decisions are
 * needed for: the controller in the daemon, against a sandbox's API server and nodes in memory.
 */

const MINUTE = 60_000;

let at: AttachmentCluster;
let nodes: HeldNodes;

beforeEach(async () => {
  at = await startAttachmentCluster();
  nodes = heldNodes(at.nodes);
});
afterEach(() => at.end());

const start = () => at.start({ executor: nodes });
const loops = (node = 'n1') => at.nodes.loopsOn(node);
const noLoops = (node = 'n1') =>
  until(`there is no loop on ${node}`, async () => (loops(node) === 0 ? true : undefined));
/** A Volume that is attached for the pod p1. */
async function attachedFor(name: string): Promise<void> {
  await at.createOnDemand(name);
  await at.createPod('p1', name);
  await at.isAttached(name);
  await at.isTold('p1');
}
/** The number of the only loop device of n1. */
const onlyLoop = (): number => {
  const numbers = [...at.nodes.disk('n1').loops.keys()];
  expect(numbers).toHaveLength(1);
  return numbers[0] ?? 0;
};
const messageOf = (name: string, has: RegExp) =>
  until(`${name} says ${has}`, async () =>
    (await at.attachments(name)).find(({ message = '' }) => has.test(message)),
  );

describe('Attach/Detach Controller', () => {
  test('On initial startup, the controller will fetch a list of all persistent volume (PV) objects from the API server and pre-populate the cache with volumes and the nodes they are attached to', async () => {
    await start();
    await attachedFor('a');
    await at.stop();
    await at.client.patch(VOLUMES, 'a', { status: { attachments: null } }, { subresource: 'status' });
    await at.deletePod('p1');
    // Nobody can look, and nobody needs it, so that it is known from nowhere else; and it is not believed.
    at.nodes.away.add('n1');
    await start();
    const shown = await until('it is shown', async () => (await at.attachments('a'))[0]);
    expect(shown).toMatchObject({ node: 'n1', state: 'Uncertain', safeToMount: false, pods: [] });
    expect(at.recordsWritten('a')).toEqual(['["n1"]']);
    at.nodes.away.clear();
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await at.isDetached('a');
    expect(loops()).toBe(0);
  });

  test('If the top level boolean ... is not set, skip this operation (to prevent unnecessary writes to the API server): the node list is written when it changed, and then once', async () => {
    await start();
    await attachedFor('a');
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
  });

  test('write the list of nodes to associated PersistentVolume object via the API server: also the empty list', async () => {
    await start();
    await attachedFor('a');
    await at.deletePod('p1');
    await at.isDetached('a');
    expect(await at.record('a')).toBe('[]');
    await at.idle();
    expect(at.recordsWritten('a')).toEqual(['["n1"]', '[]']);
  });

  test('the primary controller loop should not block on these operations', async () => {
    await start();
    await at.createNode('n2');
    await at.createOnDemand('stuck');
    await at.createOnDemand('here');
    await at.createOnDemand('there', 'n2');
    nodes.held.add('n1');
    await at.createPod('p1', 'stuck');
    await until('its job runs', async () => (nodes.waiting().length === 1 ? true : undefined));
    await at.createPod('p2', 'there', 'n2');
    await at.isAttached('there', 'n2');
    // Nor is another one of its node held up.
    await at.createPod('p3', 'here');
    await until('both run', async () => (nodes.waiting().length === 2 ? true : undefined));
    expect(await at.attachments('stuck')).toMatchObject([]);
    nodes.held.clear();
    await at.isAttached('stuck');
    await at.isAttached('here');
  });

  test('the same of a detach that does not end', async () => {
    await start();
    await at.createNode('n2');
    await at.createOnDemand('there', 'n2');
    await attachedFor('stuck');
    nodes.held.add('n1');
    await at.deletePod('p1');
    await until('its job runs', async () => (nodes.waiting().length === 1 ? true : undefined));
    await at.createPod('p2', 'there', 'n2');
    await at.isAttached('there', 'n2');
    expect(nodes.waiting()).toHaveLength(1);
    nodes.held.clear();
    await at.isDetached('stuck');
    expect(loops()).toBe(0);
  });

  test('To prevent multiple attach or detach operations on the same volume, the main thread will maintain a table mapping volumes to currently active operations', async () => {
    await start();
    await at.createOnDemand('a');
    nodes.held.add('n1');
    await at.createPod('p1', 'a');
    await until('its job runs', async () => (nodes.waiting().length === 1 ? true : undefined));
    // Each of these is a reason to do something else with it.
    await at.deletePod('p1');
    await at.createPod('p2', 'a');
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await at.deletePod('p2');
    await until('the operation is shown', async () =>
      (await at.attachments('a'))[0]?.state === 'Attaching' ? true : undefined,
    );
    expect(nodes.submitted).toHaveLength(1);
    nodes.held.clear();
    await at.isDetached('a');
    expect(nodes.submitted.map(({ id }) => id.split('-')[0])).toEqual(['attach', 'detach']);
    expect(loops()).toBe(0);
  });

  test('The number of threads that can be spawned will be capped ... and once the cap is hit, subsequent requests will have to wait', async () => {
    await start();
    await at.createNode('n2');
    await at.createOnDemand('other', 'n2');
    const names = Array.from({ length: 10 }, (_, index) => `v${index}`);
    await Promise.all(names.map((name) => at.createOnDemand(name)));
    nodes.held.add('n1');
    await Promise.all(names.map((name) => at.createPod(name, name)));
    await until('eight run', async () => (nodes.waiting().length === 8 ? true : undefined));
    // Detaches have places of their own, and so has every node.
    await at.createPod('other', 'other', 'n2');
    await at.isAttached('other', 'n2');
    await at.deletePod('other');
    await at.isDetached('other');
    expect(nodes.waiting()).toHaveLength(8);
    nodes.held.clear();
    await Promise.all(names.map((name) => at.isAttached(name)));
    expect(loops()).toBe(10);
    // However many are attached at once, each has a number of its own.
    expect(nodes.submitted.filter(({ node }) => node === 'n1')).toHaveLength(10);
  });

  test('the controller binary will accept a flag (or some mechanism) to disable the new controller altogether', async () => {
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

    // On again: what is as it should be is left as it is.
    await at.deletePod('p1');
    await at.restart({ executor: nodes });
    await at.idle();
    expect(at.nodes.started).toBe(started);
    expect([at.recordsWritten('a'), at.recordsWritten('always')]).toEqual(written);
  });

  test('disabled: Volumes that need it say so, and are served once it is on again', async () => {
    await start();
    await at.createVolume('always');
    await at.isAttached('always');
    await at.isAvailable('always');
    await at.stop();
    at.nodes.detachAll('n1');
    const { started } = at.nodes;
    const ready = async ({ status }: Volume) => status?.conditions?.find(({ type }) => type === 'Ready');
    await at.start({ executor: nodes, attachment: false });
    await until('it says so', async () =>
      (await ready(await at.volume('always')))?.reason === 'AttachmentDisabled' ? true : undefined,
    );
    await at.client.delete(VOLUMES, 'always');
    await at.idle();
    expect(at.nodes.started).toBe(started);
    expect((await ready(await at.volume('always')))?.message).toMatch(/attach/);
    await at.restart({ executor: nodes });
    await until('it is gone', async () =>
      (await at.client.get(VOLUMES, 'always').catch(() => undefined)) === undefined ? true : undefined,
    );
    expect(loops()).toBe(0);
  });
});

describe('Attach Logic', () => {
  test('This includes logic that prevents a ReadWriteOnce persistent volume from being attached to more than one node', async () => {
    await at.createNode('n2');
    await at.createVolume('a', {
      attachPolicy: 'OnDemand',
      attachableNodes: ['n1', 'n2'],
      sparseLoopDevice: { size: '32Mi', directory: '/srv/shared' },
    });
    const { metadata } = await at.volume('a');
    const path = `/dev/disk/by-uuid/${metadata.uid}`;
    const since = '2026-03-01T12:00:00.000Z';
    const status: Volume['status'] = {
      phase: 'Available',
      job: 'PrepareVolume/DONE',
      prepared: { node: 'n1', paths: [`/srv/shared/${metadata.uid}`], identity: `ext4 ${metadata.uid}` },
      devicePath: path,
      attachments: [
        { node: 'n1', state: 'Attached', safeToMount: true, safeToDetach: false, pods: [], since },
      ],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Available', message: '' }],
    };
    await at.client.patch(VOLUMES, 'a', { status }, { subresource: 'status' });
    at.nodes.away.add('n1');
    await at.createPodWith('p2', 'n2', { hostPath: { path, type: 'BlockDevice' } });
    await start();
    const { type, message } = await at.event('p2', 'FailedAttachVolume');
    expect(type).toBe('Warning');
    expect(message).toContain(
      'Multi-Attach error for volume "a" Volume is already exclusively attached to one node and can\'t be attached to another',
    );
    expect(await at.podCondition('p2')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('Multi-Attach'),
    });
    await at.idle();
    expect(nodes.submitted).toEqual([]);
    expect((await at.events('p2')).map(({ reason }) => reason)).toEqual(['FailedAttachVolume']);
  });

  test('If there is an error indicating the volume is already attached to the specified node, assume attachment was successful', async () => {
    await start();
    await at.createOnDemand('a');
    const file = [...at.nodes.disk('n1').files.keys()].find((path) => path.includes('/sparse/')) ?? '';
    at.nodes.disk('n1').run([
      { name: 'attach', argv: ['losetup', '/dev/loop5', file], guards: [] },
      { name: 'wait', argv: ['udevadm', 'settle'], guards: [] },
    ]);
    const { started } = at.nodes;
    await at.createPod('p1', 'a');
    expect(await at.isAttached('a')).toMatchObject({ state: 'Attached' });
    await at.isTold('p1');
    expect(await at.record('a')).toBe('["n1"]');
    expect(at.nodes.started).toBe(started);
    expect(onlyLoop()).toBe(5);
  });

  test('For all other errors, log the error, and terminate the thread (the main controller will retry as needed): later each time', async () => {
    await start();
    await at.createOnDemand('a');
    const step = { name: 'attach the file as /dev/loop0', command: 'losetup /dev/loop0 /f' };
    const output = 'losetup: /dev/loop0: I/O error';
    const failure = { state: 'failed', exit: 1, output, step } as const;
    nodes.failing.set('n1', [failure, failure]);
    await at.createPod('p1', 'a');
    expect((await at.event('p1', 'FailedAttachVolume')).message).toContain('I/O error');
    expect(await at.podCondition('p1')).toMatchObject({ status: 'False' });
    await at.isAttached('a');
    const [first = 0, second = 0, third = 0] = nodes.submitted.map((each) => each.at);
    expect(nodes.submitted).toHaveLength(3);
    expect(second - first).toBeGreaterThanOrEqual(480);
    expect(third - second).toBeGreaterThanOrEqual(980);
    await at.event('p1', 'SuccessfulAttachVolume');
    expect((await at.events('p1')).map(({ reason }) => reason)).toEqual([
      'FailedAttachVolume',
      'SuccessfulAttachVolume',
    ]);
  });

  test('Make a call to the API server to update the VolumeStatus object under the PodStatus for the volume to indicate that it is now safeToMount: only then', async () => {
    await start();
    await at.createOnDemand('a');
    nodes.held.add('n1');
    await at.createPod('p1', 'a');
    await until('the operation is shown', async () =>
      (await at.attachments('a'))[0]?.state === 'Attaching' ? true : undefined,
    );
    expect(await at.attachments('a')).toMatchObject([{ safeToMount: false, pods: ['default/p1'] }]);
    const waiting = await until('the pod is told', () => at.podCondition('p1'));
    expect(waiting).toMatchObject({ status: 'False', reason: 'VolumesNotAttached' });
    expect(loops()).toBe(0);
    nodes.held.clear();
    await at.isTold('p1');
    expect(await at.attachments('a')).toMatchObject([{ state: 'Attached', safeToMount: true }]);
    expect(loops()).toBe(1);
    await at.event('p1', 'SuccessfulAttachVolume');
  });
});

describe('Detach Logic', () => {
  test('If there is an error indicating the volume is not attached to the specified node, assume detachment was successful', async () => {
    await start();
    await attachedFor('a');
    const { started } = at.nodes;
    at.nodes.detachAll('n1');
    await at.deletePod('p1');
    await at.isDetached('a');
    expect(at.nodes.started).toBe(started);
  });

  test('For all other errors, log the error, and terminate the thread (the main controller will retry as needed): later each time', async () => {
    await start();
    await attachedFor('a');
    const { length } = nodes.submitted;
    const step = { name: 'detach /dev/loop0', command: 'losetup -d /dev/loop0' };
    const failure = { state: 'failed', exit: 1, output: 'losetup: I/O error', step } as const;
    nodes.failing.set('n1', [failure, failure]);
    await at.deletePod('p1');
    await messageOf('a', /I\/O error/);
    await at.isDetached('a');
    const [first = 0, second = 0, third = 0] = nodes.submitted.slice(length).map((each) => each.at);
    expect(nodes.submitted).toHaveLength(length + 3);
    expect(second - first).toBeGreaterThanOrEqual(480);
    expect(third - second).toBeGreaterThanOrEqual(980);
    expect(loops()).toBe(0);
  });
});

describe('Rationale for Storing State', () => {
  test('imagine that the controller unexpectedly terminates, and the pod object is deleted during this period', async () => {
    await start();
    await attachedFor('a');
    await at.stop();
    await at.deletePod('p1');
    await start();
    await at.isDetached('a');
    expect(loops()).toBe(0);
  });

  test('If a PersistentVolume object is deleted by the user before it is detached, the controller will still behave normally', async () => {
    await start();
    await attachedFor('a');
    await at.client.delete(PERSISTENT_VOLUMES, 'a');
    await at.client.patch(PERSISTENT_VOLUMES, 'a', { metadata: { finalizers: null } });
    await at.client.get(PERSISTENT_VOLUMES, 'a').catch(() => undefined);
    await at.idle();
    expect(loops()).toBe(1);
    await at.deletePod('p1');
    await noLoops();
  });
});

describe('Pod Defined Volume Objects and Static Pods', () => {
  test.each([
    ['pod defined volumes', {}],
    ['static pods, by parsing mirror pod objects', { [MIRROR_POD_ANNOTATION]: 'x' }],
  ])('Controller handles %s', async (_, annotations) => {
    await start();
    await at.createVolume('a', { attachPolicy: 'OnDemand' });
    await at.isAvailable('a');
    const { status } = await at.volume('a');
    const hostPath = { path: status?.devicePath, type: 'BlockDevice' };
    await at.createPodWith('p1', 'n1', { hostPath }, annotations);
    expect(await at.isAttached('a')).toMatchObject({ pods: ['default/p1'] });
    await at.isTold('p1');
    expect(loops()).toBe(1);
    await at.deletePod('p1');
    await at.isDetached('a');
    expect(loops()).toBe(0);
  });
});

describe('Safe Mount/Unmount', () => {
  test.each([
    [
      'mounted',
      /mounted at \/mnt\b/,
      (on: boolean) => {
        const { mounts } = at.nodes.disk('n1');
        if (on) mounts.set('/mnt', onlyLoop());
        else mounts.clear();
      },
    ],
    [
      "in the kubelet's folders",
      /the kubelet has .*mounts\/a/,
      (on: boolean) => {
        const { kubelet } = at.nodes.disk('n1');
        if (on) kubelet.add('/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/a');
        else kubelet.clear();
      },
    ],
  ])(
    'The controller should wait for a volume to be safely unmounted before it tries to detach it: %s',
    async (_, why, use) => {
      await start();
      await attachedFor('a');
      const { length } = nodes.submitted;
      use(true);
      await at.deletePod('p1');
      expect(await messageOf('a', why)).toMatchObject({ state: 'Attached', safeToDetach: false, pods: [] });
      expect(await at.record('a')).toBe('["n1"]');
      expect([nodes.submitted.length, loops()]).toEqual([length, 1]);
      use(false);
      await at.isDetached('a');
      expect(loops()).toBe(0);
    },
  );

  test('The controller should also be robust enough that if the kubelet is unavailable, act unilaterally to detach the disk anyway: NotReady for longer than a while', async () => {
    const metrics = createMetrics({ clock: Date, transportOf: () => 'local' });
    await at.start({ executor: nodes, metrics });
    await attachedFor('a');
    at.nodes.away.add('n1');
    await at.setReady('n1', 'False', new Date(Date.now() - 5 * MINUTE));
    await at.deletePod('p1');
    await until('it is not known any more', async () =>
      (await at.attachments('a'))[0]?.state === 'Uncertain' ? true : undefined,
    );
    expect(await at.record('a')).toBe('["n1"]');
    await at.setReady('n1', 'False', new Date(Date.now() - 7 * MINUTE));
    await at.isDetached('a');
    const { type, message } = await at.event('a', 'ForcedDetach');
    expect([type, message]).toEqual([
      'Warning',
      expect.stringMatching(/^Node n1 has not been Ready for 360 s: /),
    ]);
    expect((await metrics.read()).body).toContain(
      'attach_detach_controller_attachdetach_controller_forced_detaches{reason="timeout"} 1',
    );

    // It is back, with what it had.
    expect(loops()).toBe(1);
    at.nodes.away.clear();
    await at.setReady('n1', 'True');
    await noLoops();
    await at.isDetached('a');
  });

  test('so that no disks are left attached if kubelet becomes inaccessible: at once with the out-of-service taint', async () => {
    const metrics = createMetrics({ clock: Date, transportOf: () => 'local' });
    await at.start({ executor: nodes, metrics });
    await attachedFor('a');
    at.nodes.away.add('n1');
    await at.setReady('n1', 'False');
    await at.idle();
    expect(await at.attachments('a')).toHaveLength(1);
    await at.taint('n1', true);
    await at.isDetached('a');
    expect((await at.event('a', 'ForcedDetach')).message).toContain('node.kubernetes.io/out-of-service');
    expect((await metrics.read()).body).toContain(
      'attach_detach_controller_attachdetach_controller_forced_detaches{reason="out-of-service"} 1',
    );
    await until('the pod is told', async () =>
      (await at.podCondition('p1'))?.status === 'False' ? true : undefined,
    );
    await at.deletePod('p1');
    at.nodes.away.clear();
    await at.taint('n1', false);
    await at.setReady('n1', 'True');
    await noLoops();
  });

  test('a node that is back is cleaned before anything is attached there: what is mounted still is left, and told', async () => {
    await start();
    await attachedFor('a');
    at.nodes.away.add('n1');
    await at.deletePod('p1');
    await at.setReady('n1', 'False', new Date(Date.now() - 7 * MINUTE));
    await at.isDetached('a');
    at.nodes.disk('n1').mounts.set('/mnt', onlyLoop());
    at.nodes.away.clear();
    await at.setReady('n1', 'True');
    expect(await messageOf('a', /mounted at \/mnt\b/)).toMatchObject({ node: 'n1', state: 'Attached' });
    await until('it is recorded', async () => ((await at.record('a')) === '["n1"]' ? true : undefined));
    at.nodes.disk('n1').mounts.clear();
    await at.isDetached('a');
    expect(loops()).toBe(0);
  });

  test('the kubelet should wait for the attach/detach controller to indicate that a volume is attached: it is not told otherwise before someone looked', async () => {
    await start();
    await attachedFor('a');
    at.nodes.away.add('n1');
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await until('it is uncertain', async () =>
      (await at.attachments('a'))?.[0]?.state === 'Uncertain' ? true : undefined,
    );
    expect(await at.attachments('a')).toMatchObject([{ safeToMount: false }]);
    expect((await at.podCondition('p1'))?.status).toBe('True');
    at.nodes.away.clear();
    await at.isAttached('a');
  });
});

test(`the annotation that all of this is recorded by is ${ATTACHED_NODES_ANNOTATION}`, async () => {
  await start();
  await attachedFor('a');
  const { metadata } = await at.client.get(PERSISTENT_VOLUMES, 'a');
  expect(metadata.annotations).toMatchObject({ 'stowage.dev/attached-nodes': '["n1"]' });
});
