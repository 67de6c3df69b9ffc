import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '../../../src/manager/metrics/metrics.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import {
  type AttachmentCluster,
  startAttachmentCluster,
} from '../../support/attachment-cluster.ts';
import { type HeldNodes, heldNodes } from '../../support/held-nodes.ts';
import { until } from '../../support/until.ts';

/**
 * Statements of "Detailed Design" (see detailed-design.test.ts) about mounted volumes, and
 * unreachable nodes.
 */

const MINUTE = 60_000;

let at: AttachmentCluster;
let nodes: HeldNodes;
/** Time (ms) by which the clock of the daemon is ahead. */
let lead: number;

beforeEach(async () => {
  lead = 0;
  at = await startAttachmentCluster();
  nodes = heldNodes(at.nodes);
});
afterEach(() => at.end());

const clock = { ...systemClock, now: () => systemClock.now() + lead };
const start = () => at.start({ executor: nodes, clock });
const loops = () => at.nodes.loopsOn('n1');
/** Returns the number of the only loop device of n1. */
const onlyLoop = (): number => {
  const numbers = [...at.nodes.disk('n1').loops.keys()];
  expect(numbers).toHaveLength(1);
  return numbers[0] ?? 0;
};

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
      "in the kubelet's directories",
      /the kubelet has .*mounts\/a/,
      (on: boolean) => {
        const { kubelet } = at.nodes.disk('n1');
        if (on) kubelet.add('/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/a');
        else kubelet.clear();
      },
    ],
  ])(
    'the controller waits for a volume to be safely unmounted before it detaches it: %s',
    async (_, why, use) => {
      await start();
      await at.createAttached('a');
      const { length } = nodes.submitted;
      use(true);
      await at.deletePod('p1');
      expect(await at.hasMessage('a', why)).toMatchObject({
        state: 'Attached',
        safeToDetach: false,
        pods: [],
      });
      expect(await at.record('a')).toBe('["n1"]');
      expect([nodes.submitted.length, loops()]).toEqual([length, 1]);
      use(false);
      await at.isDetached('a');
      expect(loops()).toBe(0);
    },
  );

  test('force-detaches a volume whose node is NotReady for longer than 6 minutes', async () => {
    const metrics = createMetrics({ clock: Date, transportOf: () => 'local' });
    await at.start({ executor: nodes, metrics, clock });
    await at.createAttached('a');
    at.nodes.away.add('n1');
    // The clock of the other machine is behind: the observation of the daemon counts.
    await at.setReady('n1', 'False', new Date(Date.now() - 7 * MINUTE));
    await at.deletePod('p1');
    await until('the attachment is Uncertain', async () =>
      (await at.attachments('a'))[0]?.state === 'Uncertain' ? true : undefined,
    );
    expect(await at.record('a')).toBe('["n1"]');
    lead = 7 * MINUTE;
    await at.isDetached('a');
    const { type, message } = await at.event('a', 'ForcedDetach');
    expect([type, message]).toEqual([
      'Warning',
      expect.stringMatching(/^Node n1 has not been Ready for 360 s: /),
    ]);
    expect((await metrics.read()).body).toContain(
      'attach_detach_controller_attachdetach_controller_forced_detaches{reason="timeout"} 1',
    );

    // The node is back, with its loop device.
    expect(loops()).toBe(1);
    at.nodes.away.clear();
    await at.setReady('n1', 'True');
    await at.hasLoops(0);
    await at.isDetached('a');
  });

  test('force-detaches a volume at once if its node has the out-of-service taint', async () => {
    const metrics = createMetrics({ clock: Date, transportOf: () => 'local' });
    await at.start({ executor: nodes, metrics });
    await at.createAttached('a');
    at.nodes.away.add('n1');
    await at.setReady('n1', 'False');
    await at.idle();
    expect(await at.attachments('a')).toHaveLength(1);
    await at.taint('n1', true);
    await at.isDetached('a');
    expect((await at.event('a', 'ForcedDetach')).message).toContain(
      'node.kubernetes.io/out-of-service',
    );
    expect((await metrics.read()).body).toContain(
      'attach_detach_controller_attachdetach_controller_forced_detaches{reason="out-of-service"} 1',
    );
    await until('the condition of the pod is False', async () =>
      (await at.podCondition('p1'))?.status === 'False' ? true : undefined,
    );
    await at.deletePod('p1');
    at.nodes.away.clear();
    await at.taint('n1', false);
    await at.setReady('n1', 'True');
    await at.hasLoops(0);
  });

  test('reports a volume that is still mounted on a returned node until detached', async () => {
    await start();
    await at.createAttached('a');
    at.nodes.away.add('n1');
    await at.deletePod('p1');
    await at.setReady('n1', 'False');
    await until('the attachment is Uncertain', async () =>
      (await at.attachments('a'))[0]?.state === 'Uncertain' ? true : undefined,
    );
    lead = 7 * MINUTE;
    await at.isDetached('a');
    at.nodes.disk('n1').mounts.set('/mnt', onlyLoop());
    at.nodes.away.clear();
    await at.setReady('n1', 'True');
    expect(await at.hasMessage('a', /mounted at \/mnt\b/)).toMatchObject({
      node: 'n1',
      state: 'Attached',
    });
    await until('the annotation lists n1', async () =>
      (await at.record('a')) === '["n1"]' ? true : undefined,
    );
    at.nodes.disk('n1').mounts.clear();
    await at.isDetached('a');
    expect(loops()).toBe(0);
  });

  test('keeps the condition of the pod True while the attachment is uncertain', async () => {
    await start();
    await at.createAttached('a');
    at.nodes.away.add('n1');
    await at.setReady('n1', 'False');
    await at.setReady('n1', 'True');
    await until('the attachment is Uncertain', async () =>
      (await at.attachments('a'))?.[0]?.state === 'Uncertain' ? true : undefined,
    );
    expect(await at.attachments('a')).toMatchObject([{ safeToMount: false }]);
    expect((await at.podCondition('p1'))?.status).toBe('True');
    at.nodes.away.clear();
    await at.isAttached('a');
  });
});
