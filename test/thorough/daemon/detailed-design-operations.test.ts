import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MIRROR_POD_ANNOTATION } from '../../../src/api/names.ts';
import { PERSISTENT_VOLUMES } from '../../../src/api/resources.ts';
import { DEFAULT_ATTACHMENT } from '../../../src/manager/attachment-controller.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { type HeldNodes, heldNodes } from '../../support/held-nodes.ts';
import { until } from '../../support/until.ts';

/**
 * Statements of "Detailed Design" (see detailed-design.test.ts) about single attaches and detaches.
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

describe('Attach Logic', () => {
  test('prevents a ReadWriteOnce volume from being attached to more than one node', async () => {
    await at.createNode('n2');
    const { path } = await at.createShared('a');
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

  test('assumes success if the volume is already attached to the node', async () => {
    await start();
    await at.createOnDemand('a');
    const file =
      [...at.nodes.disk('n1').files.keys()].find((path) => path.includes('/sparse/')) ?? '';
    at.nodes.disk('n1').run([
      { name: 'attach', argv: ['losetup', '/dev/loop5', file], preconditions: [] },
      { name: 'wait', argv: ['udevadm', 'settle'], preconditions: [] },
    ]);
    const { started } = at.nodes;
    await at.createPod('p1', 'a');
    expect(await at.isAttached('a')).toMatchObject({ state: 'Attached' });
    await at.isTold('p1');
    expect(await at.record('a')).toBe('["n1"]');
    // The volume gets its persistent link, which its earlier attach did not create, and is not
    // attached again.
    expect(at.nodes.started).toBe(started + 1);
    expect([...at.nodes.disk('n1').loops.keys()]).toEqual([5]);
  });

  test('logs other errors, and retries with increasing delays', async () => {
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
    const logged = { volume: 'a', node: 'n1', reason: expect.stringContaining('I/O error') };
    expect(at.lines().filter(({ level }) => level === 'warn')).toEqual([
      { level: 'warn', fields: logged, message: 'attach failed' },
      { level: 'warn', fields: logged, message: 'attach failed' },
    ]);
    await at.event('p1', 'SuccessfulAttachVolume');
    expect((await at.events('p1')).map(({ reason }) => reason)).toEqual([
      'FailedAttachVolume',
      'SuccessfulAttachVolume',
    ]);
  });

  test('reports safeToMount only after the volume is attached', async () => {
    await start();
    await at.createOnDemand('a');
    nodes.held.add('n1');
    await at.createPod('p1', 'a');
    await until('the attachment is Attaching', async () =>
      (await at.attachments('a'))[0]?.state === 'Attaching' ? true : undefined,
    );
    expect(await at.attachments('a')).toMatchObject([{ safeToMount: false, pods: ['default/p1'] }]);
    const waiting = await until('the pod has a condition', () => at.podCondition('p1'));
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
  test('assumes success if the volume is not attached to the node', async () => {
    await start();
    await at.createAttached('a');
    const { started } = at.nodes;
    at.nodes.detachAll('n1');
    await at.deletePod('p1');
    await at.isDetached('a');
    expect(at.nodes.started).toBe(started);
  });
});

describe('Rationale for Storing State', () => {
  test('detaches a volume whose PersistentVolume object was deleted by the user', async () => {
    await start();
    await at.createAttached('a');
    await at.client.delete(PERSISTENT_VOLUMES, 'a');
    await at.client.patch(PERSISTENT_VOLUMES, 'a', { metadata: { finalizers: null } });
    await at.client.get(PERSISTENT_VOLUMES, 'a').catch(() => undefined);
    await at.idle();
    expect(loops()).toBe(1);
    await at.deletePod('p1');
    await at.hasLoops(0);
  });
});

describe('Polling', () => {
  test.each([
    ['is attached again with polling', 200, 1],
    ['is not noticed without polling', undefined, 0],
  ])(
    'polls nodes for attachments: a device detached by something else %s',
    async (_, pollIntervalMs, count) => {
      await at.start({ executor: nodes, attachment: { ...DEFAULT_ATTACHMENT, pollIntervalMs } });
      await at.createAttached('a');
      at.nodes.detachAll('n1');
      expect(loops()).toBe(0);
      if (count > 0) await at.hasLoops(count);
      else await at.idle();
      expect(loops()).toBe(count);
      expect((await at.attachments('a')).map(({ state }) => state)).toEqual(['Attached']);
    },
  );
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
