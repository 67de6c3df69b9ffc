import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import type { Attachment, AttachmentState, Volume, VolumeStatus } from '../../src/api/volume.ts';
import { eligibleNodes, withJobNode, workNode } from '../../src/model/volume-nodes.ts';
import { at, prepared } from '../support/decisions.ts';
import { volume } from '../support/volume-input.ts';

const shared = (status: VolumeStatus = {}, attachableNodes = ['n3', 'n2', 'n1']): Volume => {
  const whole = volume(status);
  return { ...whole, spec: { ...whole.spec, attachPolicy: 'OnDemand', attachableNodes } };
};
const entry = (node: string, state: AttachmentState = 'Attached'): Attachment => ({
  node,
  state,
  safeToMount: true,
  safeToDetach: false,
  pods: [],
  since: at,
});

/**
 * States of nodes by name. `off`: NotReady, with the out-of-service taint. A missing node has no
 * object.
 */
type Facts = Record<string, 'ready' | 'not ready' | 'off'>;
const named =
  (facts: Facts) =>
  (name: string): KubeNode | undefined => {
    const is = facts[name];
    if (is === undefined) return undefined;
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      ...(is === 'off'
        ? { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } }
        : {}),
      status: { conditions: [{ type: 'Ready', status: is === 'ready' ? 'True' : 'Unknown' }] },
    };
  };
const allReady: Facts = { n1: 'ready', n2: 'ready', n3: 'ready' };
const onN2 = { prepared: { ...prepared, node: 'n2' } };

describe('the node that work runs on', () => {
  test.each<[string, Volume, Facts, string]>([
    ['one node: that node', volume(), {}, 'n1'],
    ['one node that is off: that node', volume(), { n1: 'off', n2: 'ready' }, 'n1'],
    [
      'one node, but attached to another: its own node',
      volume({ attachments: [entry('n2')] }),
      allReady,
      'n1',
    ],
    ['provisioned on another node: that node', volume(onN2), allReady, 'n2'],
    ['shared: its own node', shared(), allReady, 'n1'],
    ['shared, and provisioned on another node: that node', shared(onN2), allReady, 'n2'],
    [
      'shared, and its own node is not Ready: the first Ready node',
      shared(),
      { ...allReady, n1: 'not ready' },
      'n3',
    ],
    [
      'shared, and its own node has no object: a Ready node',
      shared(),
      { n2: 'ready', n3: 'not ready' },
      'n2',
    ],
    ['shared, and no node is Ready: its own node', shared(), { n2: 'not ready' }, 'n1'],
    ['shared, without Node objects: its own node', shared(), {}, 'n1'],
    ['attached: the attached node', shared({ attachments: [entry('n2')] }), allReady, 'n2'],
    [
      'attached to a node that is not Ready: that node',
      shared({ attachments: [entry('n2')] }),
      { ...allReady, n2: 'not ready' },
      'n2',
    ],
    [
      'an uncertain attachment: that node',
      shared({ attachments: [entry('n3', 'Uncertain')] }),
      allReady,
      'n3',
    ],
    [
      'attached to one node, and uncertain on another: the first',
      shared({ attachments: [entry('n3', 'Uncertain'), entry('n2')] }),
      allReady,
      'n2',
    ],
    [
      'attached to a node outside attachableNodes, in a forged status: its own node',
      shared({ attachments: [entry('n9')] }),
      { ...allReady, n9: 'ready' },
      'n1',
    ],
    [
      'with a job: the node of the job, even if attached elsewhere',
      shared({ job: 'GrowVolume/1', jobNode: 'n3', attachments: [entry('n2')] }),
      allReady,
      'n3',
    ],
    [
      'with a job on its own node, which is not Ready: that node',
      shared({ job: 'PrepareVolume/1' }),
      { ...allReady, n1: 'not ready' },
      'n1',
    ],
    [
      'with a job on a node without an object: that node',
      shared({ job: 'PrepareVolume/1' }),
      { n2: 'ready' },
      'n1',
    ],
    [
      'with a job on a machine that is off: another node',
      shared({ job: 'PrepareVolume/1' }),
      { ...allReady, n1: 'off' },
      'n3',
    ],
    [
      'with a job on a machine that is off, and attached: the attached node',
      shared({ job: 'GrowVolume/1', jobNode: 'n3', attachments: [entry('n2')] }),
      { ...allReady, n3: 'off' },
      'n2',
    ],
    [
      'with a job on a node outside attachableNodes: its own node',
      shared({ job: 'GrowVolume/1', jobNode: 'n9' }),
      { ...allReady, n9: 'ready' },
      'n1',
    ],
    [
      'with a finished job: the attached node',
      shared({ job: 'GrowVolume/DONE', jobNode: 'n3', attachments: [entry('n2')] }),
      allReady,
      'n2',
    ],
    [
      'shared with invalid node names: its own node',
      shared({}, ['$(reboot)', '../n2', 'n1']),
      { '$(reboot)': 'ready', '../n2': 'ready' },
      'n1',
    ],
  ])('is chosen for a Volume: %s', (_, given, facts, expected) => {
    expect(workNode(given, named(facts))).toBe(expected);
  });
});

test('eligibleNodes lists all nodes that may run the work once, the Volume’s own first', () => {
  expect(eligibleNodes(shared())).toEqual(['n1', 'n3', 'n2']);
  expect(eligibleNodes(volume(onN2))).toEqual(['n2']);
  expect(eligibleNodes(shared({}, ['$(reboot)']))).toEqual(['n1']);
  const nothing = volume();
  expect(
    eligibleNodes({ ...nothing, spec: { ...nothing.spec, attachableNodes: null as never } }),
  ).toEqual(['n1']);
});

test.each<[string, VolumeStatus, string, VolumeStatus]>([
  [
    'records the node of a job elsewhere',
    { job: 'GrowVolume/1' },
    'n2',
    { job: 'GrowVolume/1', jobNode: 'n2' },
  ],
  [
    'records no node of a job on its own node',
    { job: 'GrowVolume/1' },
    'n1',
    { job: 'GrowVolume/1' },
  ],
  [
    'removes the node of a finished job',
    { job: 'GrowVolume/DONE', jobNode: 'n2' },
    'n2',
    { job: 'GrowVolume/DONE' },
  ],
  [
    'keeps the node of the same job',
    { job: 'Before/1', jobNode: 'n3' },
    'n2',
    { job: 'Before/1', jobNode: 'n3' },
  ],
])('withJobNode: %s', (_, status, node, expected) => {
  expect(withJobNode(shared({ job: 'Before/1' }), node, status)).toEqual(expected);
});
