import { describe, expect, test } from '@jest/globals';
import { nextOperation } from '../../../../src/controllers/attachdetach/next-operation.ts';
import {
  alive,
  always,
  DELETED,
  entry,
  held,
  MINUTE,
  NOW,
  notReady,
  OFF,
  onBoth,
  onN2,
  paused,
  readers,
  shared,
  uncertain,
  use,
  type ViewChange,
  view,
  wanted,
} from '../../../support/attachment-view.ts';

describe('blocked pods', () => {
  const moved = onN2;
  const taint = 'node.kubernetes.io/out-of-service';
  const multi = 'Multi-Attach error for volume "v1" Volume is already';
  const exclusively = `${multi} exclusively attached to one node and can't be attached to another`;
  test.each<[string, ViewChange, string, string, string]>([
    [
      'the volume is still attached',
      held,
      'multi-attach',
      'MultiAttach',
      `${exclusively}: node n1 has it (Attached)`,
    ],
    [
      'used by other pods',
      { wanted: [wanted('n1', 'b', 'c'), wanted('n2', 'a')], ...held },
      'multi-attach',
      'MultiAttach',
      `${multi} used by pod(s) app/b, app/c: node n1 has it (Attached)`,
    ],
    [
      'attached, with a message',
      { entries: [entry('n1', { message: '/dev/loop1 is mounted at /x' })] },
      'multi-attach',
      'MultiAttach',
      `${exclusively}: node n1 has it (Attached), /dev/loop1 is mounted at /x`,
    ],
    [
      'the attachment is uncertain',
      { entries: [entry('n1', { ...uncertain, message: 'no answer' })] },
      'multi-attach',
      'MultiAttachUncertain',
      `${exclusively}: node n1 may have it (Uncertain); verifying; no answer`,
    ],
    [
      'being attached elsewhere',
      { entries: [entry('n1', { state: 'Attaching' })] },
      'multi-attach',
      'MultiAttach',
      `${exclusively}: node n1 has it (Attaching)`,
    ],
    [
      'being detached elsewhere',
      { entries: [entry('n1', { state: 'Detaching' })] },
      'multi-attach',
      'MultiAttach',
      `${exclusively}: node n1 has it (Detaching)`,
    ],
    [
      'attached to a node that is NotReady',
      { ...held, nodes: { n1: notReady(NOW - 60 * MINUTE) } },
      'multi-attach',
      'MultiAttachNodeNotReady',
      `${exclusively}: node n1 has it (Attached), and is not Ready, so that it may still write: once the machine is off, add the taint ${taint} to the Node`,
    ],
    [
      'attached to a node that is deleted',
      { ...held, nodes: { n1: DELETED } },
      'multi-attach',
      'MultiAttach',
      `${exclusively}: node n1 has it (Attached), Node n1 no longer exists, and the machine may still write: once the machine is off, create a Node of that name with the taint node.kubernetes.io/out-of-service`,
    ],
    [
      'attached to a paused node',
      { ...held, nodes: { n1: paused({ kind: 'Node', name: 'n1' }) } },
      'multi-attach',
      'MultiAttachPaused',
      `${exclusively}: node n1 has it (Attached), and is not detached while Node n1 is paused (stowage resume node n1)`,
    ],
    [
      'a reader beside a writable attachment',
      { volume: readers, entries: [entry('n1', {}, 'b')], isPodActive: alive },
      'multi-attach',
      'MultiAttach',
      `${multi} used by pod(s) app/b: node n1 has it (Attached)`,
    ],
    [
      'a reader on a node that is NotReady',
      {
        volume: readers,
        entries: [entry('n1', {}, 'b')],
        isPodActive: alive,
        nodes: { n1: notReady(NOW) },
      },
      'multi-attach',
      'MultiAttachNodeAway',
      `${multi} used by pod(s) app/b: node n1 has it (Attached), and is not Ready, and its pods are not deleted`,
    ],
    [
      'the pod is on a node that is not allowed',
      { volume: shared({ nodes: ['n1', 'n3'] }) },
      'node-not-allowed',
      'NodeNotAllowed',
      'Volume v1 cannot be attached to n2, only to n1, n3: run the pod there',
    ],
    [
      'the Volume is not provisioned',
      { volume: shared({ attachable: false }) },
      'not-made',
      'VolumeNotMade',
      'Volume v1 cannot be attached: it is not provisioned yet, or is being deleted',
    ],
    [
      'no Volume',
      { volume: undefined },
      'gone',
      'VolumeOfPodGone',
      'The Volume of this PersistentVolume no longer exists: delete the pod',
    ],
    [
      'no node',
      { nodes: { n2: DELETED } },
      'gone',
      'NodeObjectMissing',
      'Volume v1 cannot be attached: Node n2 does not exist',
    ],
    [
      'the node is out of service',
      { nodes: { n2: OFF } },
      'gone',
      'NodeOutOfService',
      `Volume v1 is not attached to Node n2, which has the taint ${taint} and is not Ready: remove the taint once the node is back`,
    ],
    [
      'paused',
      { nodes: { n2: paused() } },
      'paused',
      'AttachPaused',
      'Volume v1 is not attached to node n2: Volume v1 is paused. To resume it: stowage resume volume v1',
    ],
    [
      'paused, and its link is missing',
      {
        entries: [entry('n2', { safeToMount: false })],
        nodes: { n2: paused({ kind: 'Node', name: 'n2' }) },
      },
      'paused',
      'AttachPaused',
      'Volume v1 is not attached to node n2: Node n2 is paused. To resume it: stowage resume node n2',
    ],
  ])('are reported with their reason: %s', (_, change, reason, code, message) => {
    const { blocked } = nextOperation(view({ ...moved, ...change }), NOW);
    expect(blocked.filter(({ pods }) => pods.length > 0)).toMatchObject([
      { node: 'n2', pods: [use('a', 'n2')], reason, message, detail: { code } },
    ]);
  });

  test.each<[string, ViewChange]>([
    ['attached', { ...moved, entries: [entry('n2')] }],
    ['uncertain', { ...moved, entries: [entry('n2', uncertain)] }],
    ['to be attached', moved],
    ['to be retried later', { ...moved, notBefore: { 'attach n2': NOW + 1 } }],
    ['not wanted', { nodes: { n2: OFF } }],
    ['Always, out of service', { volume: always(), wanted: [wanted('n1')], nodes: { n1: OFF } }],
  ])('are none: %s', (_, change) => {
    expect(nextOperation(view(change), NOW).blocked).toEqual([]);
  });

  test('are grouped by node, each node once', () => {
    const change = {
      wanted: [wanted('n1', 'a'), wanted('n2', 'b'), wanted('n3', 'c', 'd'), wanted('n7', 'e')],
      ...held,
    };
    const { blocked } = nextOperation(view(change), NOW);
    expect(blocked.map(({ node, pods, reason }) => [node, pods.length, reason])).toEqual([
      ['n2', 1, 'multi-attach'],
      ['n3', 2, 'multi-attach'],
      ['n7', 1, 'node-not-allowed'],
    ]);
  });

  test('are those on the node to be detached, of two nodes that have the volume', () => {
    const change = {
      ...onBoth,
      entries: [entry('n1'), entry('n2', { since: NOW })],
    };
    const { blocked } = nextOperation(view(change), NOW);
    expect(blocked.map(({ node, reason }) => [node, reason])).toEqual([['n2', 'multi-attach']]);
  });

  test.each<[string, ViewChange]>([
    ['Always at home', { volume: always(), wanted: [wanted('n1')], nodes: { n1: paused() } }],
    ['to be detached', { ...held, nodes: { n1: paused() } }],
    [
      'to be detached, and the Volume gone',
      { volume: undefined, ...held, nodes: { n1: paused() } },
    ],
  ])('include a paused node without a pod: %s', (_, change) => {
    const { blocked } = nextOperation(view(change), NOW);
    const detail = { code: change.entries === undefined ? 'AttachPaused' : 'DetachPaused' };
    expect(blocked).toMatchObject([{ node: 'n1', pods: [], reason: 'paused', detail }]);
    expect(blocked[0]?.message).toMatch(
      /: Volume v1 is paused\. To resume it: stowage resume volume v1$/,
    );
  });

  test.each<[string, ViewChange]>([
    ['Always, attached', { volume: always(), wanted: [wanted('n1')], ...held }],
    ['being verified', { entries: [entry('n1', uncertain)] }],
  ])('are none in a pause: %s', (_, change) => {
    expect(nextOperation(view({ ...change, nodes: { n1: paused() } }), NOW).blocked).toEqual([]);
  });
});
