import { describe, expect, test } from '@jest/globals';
import { explain, type Reason } from '../../../src/api/reasons.ts';
import { ago, nodeNamed } from '../../support/cluster-objects.ts';
import { onNode, ready } from '../../support/volumes.ts';
import {
  backed,
  condition,
  heldOnN2,
  merge,
  ofHolder,
  on,
  pausedNode,
  pod,
  pv,
  reportedBy,
  shared,
  testRows,
  volume,
  why,
} from './pod-objects.ts';

/** An uncertain attachment to another node, of a Volume that is unreachable. */
const bothUnknown = merge(
  pod(),
  backed(
    volume([on('n2', { state: 'Uncertain', pods: [], message: 'no route' })], {
      spec: shared,
      status: ready('Unknown', 'NodeUnreachable', 'node n2 is not reached'),
    }),
  ),
  { 'nodes/n2': nodeNamed('n2', { ready: 'True' }) },
);
const ofHolderN2 = 'it is Uncertain on node n2, which counts as attached';
const ofVolume = 'node n1 is not in this cluster';
const told = (detail: Reason | undefined, by = 'stowage', at = 30) => reportedBy(by, detail, at);

const taintN2 = "kubectl taint node n2 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'";

describe('a pod is held up by', () => {
  testRows([
    [
      'a read-only volume that is not attached yet',
      heldOnN2({ readOnly: true }),
      { holdup: 'Volume data1 is not attached to node n1 yet' },
    ],
    [
      'the blocker of its Volume',
      merge(pod(), backed(volume([], { status: ready('Unknown', 'NodeUnreachable', 'no route') }))),
      {
        holdup:
          'Volume data1: node n1 is not in this cluster, and no machine is reached under that name: no route',
      },
    ],
    [
      'a disabled attachment controller',
      merge(pod(), backed(volume([], { status: ready('Unknown', 'AttachmentDisabled', 'off') }))),
      { holdup: 'Volume data1: off', fix: "stowage watch --controllers '*'" },
    ],
    [
      'an attachment to another node',
      heldOnN2({ pods: ['db/old', 'x/y'], message: 'mounted' }),
      {
        holdup:
          'Volume data1 cannot be attached to node n1: it is Attached on node n2, where these pods need it: db/old, x/y (mounted); it can be on one node at a time',
        since: ago(120),
        fix: 'kubectl delete pod -n db old\nkubectl delete pod -n x y',
      },
    ],
    [
      'a detach from another node',
      heldOnN2({ state: 'Detaching', pods: [] }),
      { holdup: 'it is Detaching on node n2; it can be on one node at a time' },
    ],
    [
      'an attachment to another node that is not Ready',
      heldOnN2({ pods: ['db/old'] }, 'Unknown'),
      {
        cause: 'NodeNotReady',
        holdup: 'it is Attached on node n2, which is not Ready, where these pods need it: db/old',
        since: ago(120),
        fix: taintN2,
      },
    ],
    [
      'an attachment to a node that has no Node object',
      merge(pod(), backed(volume([on('n2', { pods: [] })], { spec: shared }))),
      { cause: 'NodeNotReady', holdup: 'which is not Ready', fix: taintN2 },
    ],
    [
      'an attachment to a node that has no Node object any more',
      merge(
        pod(),
        backed(volume([on('n2', explain('NodeGone', { node: 'n2' }))], { spec: shared })),
      ),
      { cause: 'MultiAttach', holdup: 'Node n2 no longer exists' },
    ],
    [
      'an uncertain attachment to another node, of a Volume that is unreachable',
      merge(bothUnknown, told(ofHolder)),
      { holdup: ofHolderN2, since: ago(120), fix: 'stowage check node n2' },
    ],
    [
      'an uncertain attachment to another node whose job runs',
      heldOnN2({ state: 'Uncertain', pods: [], ...explain('JobStillRuns', { node: 'n2' }) }),
      {
        cause: 'AttachmentUncertain',
        holdup: 'a job of this Volume still runs on node n2',
        since: ago(120),
        fix: 'ssh n2 ps axl',
      },
    ],
    [
      'another node that cannot determine whether the device is in use',
      heldOnN2({ pods: [], ...explain('UseUnknown', { device: '/dev/loop3' }) }),
      { cause: 'WaitingForUnmount', holdup: 'cannot determine whether', since: ago(120) },
    ],
    [
      'a detach from another node whose job runs',
      heldOnN2({
        state: 'Detaching',
        pods: [],
        ...explain('OperationUnderWay', { step: 'write back' }),
      }),
      {
        cause: 'JobRunning',
        holdup: 'it is Detaching on node n2 (its job is running: write back)',
        since: ago(120),
        fix: 'ssh n2 ps axl',
      },
    ],
    [
      'a mount on another node',
      heldOnN2({
        pods: [],
        ...explain('DeviceInUse', { device: '/dev/loop3', uses: 'mounted at /mnt' }),
      }),
      {
        cause: 'WaitingForUnmount',
        holdup: '(/dev/loop3 is in use: mounted at /mnt); it can be',
        since: ago(120),
      },
    ],
    [
      'another node that is unreachable',
      heldOnN2({
        ...{ state: 'Uncertain', pods: [] },
        ...explain('NodeUnreachable', { node: 'n2', said: 'timeout' }),
      }),
      {
        cause: 'AttachmentUncertain',
        holdup: '(node n2 is unreachable over ssh: timeout); it can be',
        fix: 'stowage check node n2',
      },
    ],
    [
      'another node, as an earlier version reports it',
      heldOnN2({ pods: [], message: '/dev/loop3 is in use: mounted at /mnt' }),
      { cause: 'UnknownReason', holdup: 'is in use: mounted at /mnt', since: ago(120) },
    ],
    [
      'an invalid reason of another node',
      heldOnN2({ pods: [], message: 'x', detail: { code: 'OperationUnderWay' } as Reason }),
      { cause: 'JobRunning', holdup: 'it is Attached on node n2 (x)', fix: 'ssh n2 ps axl' },
    ],
    [
      'a node that cannot attach the Volume',
      merge(pod({ spec: { nodeName: 'n3' } }), backed(volume([], { spec: shared }))),
      {
        holdup:
          'Volume data1 can be attached to one of the nodes n1, n2, but the pod is on node n3',
      },
    ],
    [
      'a node that cannot attach the Volume, which is attached elsewhere',
      merge(heldOnN2({}), pod({ spec: { nodeName: 'n3' } })),
      { cause: 'WrongNode', holdup: 'one of the nodes n1, n2, but the pod is on node n3' },
    ],
    [
      'a node that only shares the hostname label with that of the Volume',
      merge(pod({ spec: { nodeName: 'n3' } }), {
        ...backed(volume()),
        'persistentvolumes/data1': pv(volume(), { nodeAffinity: onNode('n1') }),
        'nodes/n3': {
          ...nodeNamed('n3'),
          metadata: { name: 'n3', labels: { 'kubernetes.io/hostname': 'n1' } },
        },
      }),
      {
        cause: 'WrongNode',
        holdup: 'which has the label kubernetes.io/hostname that the PersistentVolume selects',
      },
    ],
    [
      'a paused node',
      merge(pod(), backed(volume()), { 'nodes/n1': pausedNode }),
      {
        holdup: 'Volume data1 is not attached to node n1: Node n1 is paused',
        fix: 'stowage resume node n1',
      },
    ],
    [
      'an uncertain attachment to its node',
      merge(pod(), backed(volume([on('n1', { state: 'Uncertain', message: 'no route' })]))),
      {
        holdup: 'Volume data1: its attachment to node n1 is Uncertain, which counts as attached',
        since: ago(120),
        fix: 'stowage check node n1',
      },
    ],
    [
      'a persistent path that does not exist yet',
      merge(pod(), backed(volume([on('n1', { safeToMount: false })]))),
      { holdup: 'is Attached, but its persistent path does not exist yet' },
    ],
    [
      'an attach that has not begun',
      merge(pod({ status: condition('data1: not attached yet') }), backed(volume())),
      {
        holdup: 'Volume data1 is not attached to node n1 yet: data1: not attached yet',
        since: ago(30),
        fix: 'stowage watch',
      },
    ],
    [
      'a blocker that only its condition reports, though it runs',
      merge(
        pod({ status: { ...condition('scratch: gone'), phase: 'Running' } }),
        backed(volume([on('n1')])),
      ),
      { holdup: 'scratch: gone', since: ago(30) },
    ],
    [
      'a Volume that it uses by its path',
      merge(
        pod({
          spec: {
            volumes: [
              { name: 'x', hostPath: { path: '/dev/disk/by-uuid/u', type: 'BlockDevice' } },
            ],
          },
        }),
        { 'volumes/data1': volume() },
      ),
      { holdup: 'Volume data1 is not attached to node n1 yet' },
    ],
  ]);
});

describe('a Volume is not Ready and attached to another node: the first blocker is', () => {
  const notThere = { code: 'VolumeNotMade', parameters: { volume: 'data1' } };
  const ofAnother = { ...ofHolder, parameters: { ...ofHolder.parameters, volume: 'data2' } };
  test.each([
    ['that of the Volume, without an event', [], ofVolume],
    ['that of the other node, if an event of the daemon has it', [told(ofHolder)], ofHolderN2],
    [
      'that of the Volume, if the last event has another one',
      [told(ofHolder, 'stowage', 60), told(notThere)],
      ofVolume,
    ],
    ['that of the Volume, if the event is of another volume', [told(ofAnother)], ofVolume],
    ['that of the Volume, if the event is of another component', [told(ofHolder, 'x')], ofVolume],
    ['that of the Volume, if the event has no reason', [told(undefined)], ofVolume],
  ])('%s', async (_, events, holdup) => {
    expect((await why(merge(bothUnknown, ...events))).holdup).toContain(holdup);
  });

  test('the holder on the other node, even if that has no Node object', async () => {
    const { 'nodes/n2': _, ...gone } = merge(bothUnknown, told(ofHolder));
    expect((await why(gone)).holdup).toContain(ofHolderN2);
  });

  test('the uncertain attachment, even if the event reports the node as NotReady', async () => {
    const gone = explain('MultiAttachNodeNotReady', {
      ...{ volume: 'data1', use: 'used by pod(s) db/old', node: 'n2', state: 'Uncertain' },
    });
    const found = await why(merge(bothUnknown, told(gone.detail)));
    expect(found).toMatchObject({
      cause: 'AttachmentUncertain',
      fix: { run: ['stowage check node n2'] },
    });
  });
});

test('the fix for a pod on a node of the same hostname label corrects the label', async () => {
  const labels = { 'kubernetes.io/hostname': 'n1' };
  const { fix } = await why(
    merge(pod({ spec: { nodeName: 'n3' } }), {
      ...backed(volume()),
      'persistentvolumes/data1': pv(volume(), { nodeAffinity: onNode('n1') }),
      'nodes/n3': { ...nodeNamed('n3'), metadata: { name: 'n3', labels } },
    }),
  );
  expect(fix.say).toContain('Correct the label of node n3 by --hostname-override or --node-labels');
});
