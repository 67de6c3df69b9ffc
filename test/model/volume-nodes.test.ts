import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import type { Attachment, AttachmentState, Volume, VolumeStatus } from '../../src/api/volume.ts';
import { nodesOf, withJobNode, workNode } from '../../src/model/volume-nodes.ts';
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
    ['of one node: that one', volume(), {}, 'n1'],
    ['of one node that is away: that one still', volume(), { n1: 'off', n2: 'ready' }, 'n1'],
    [
      'of one node: whatever its status says',
      volume({ attachments: [entry('n2')] }),
      allReady,
      'n1',
    ],
    ['made on another: that one', volume(onN2), allReady, 'n2'],
    ['shared: its own node', shared(), allReady, 'n1'],
    ['shared, and made on another: that one', shared(onN2), allReady, 'n2'],
    [
      'shared, and its own is away: the first that answers',
      shared(),
      { ...allReady, n1: 'not ready' },
      'n3',
    ],
    ['shared, and its own has no object', shared(), { n2: 'ready', n3: 'not ready' }, 'n2'],
    ['shared, and none answers: its own', shared(), { n2: 'not ready' }, 'n1'],
    ['shared, without any objects of nodes: its own', shared(), {}, 'n1'],
    ['attached: where it is', shared({ attachments: [entry('n2')] }), allReady, 'n2'],
    [
      'attached to what does not answer: there still',
      shared({ attachments: [entry('n2')] }),
      { ...allReady, n2: 'not ready' },
      'n2',
    ],
    [
      'perhaps attached: there',
      shared({ attachments: [entry('n3', 'Uncertain')] }),
      allReady,
      'n3',
    ],
    [
      'attached to one, and perhaps to another',
      shared({ attachments: [entry('n3', 'Uncertain'), entry('n2')] }),
      allReady,
      'n2',
    ],
    [
      'attached to what does not share it, by a status that nobody of ours wrote: its own',
      shared({ attachments: [entry('n9')] }),
      { ...allReady, n9: 'ready' },
      'n1',
    ],
    [
      'with a job: where that is, whatever else changed',
      shared({ job: 'GrowVolume/1', jobNode: 'n3', attachments: [entry('n2')] }),
      allReady,
      'n3',
    ],
    [
      'with a job of its own node: there, though that is away',
      shared({ job: 'PrepareVolume/1' }),
      { ...allReady, n1: 'not ready' },
      'n1',
    ],
    [
      'with a job where there is no object of the node: there still',
      shared({ job: 'PrepareVolume/1' }),
      { n2: 'ready' },
      'n1',
    ],
    [
      'with a job on a machine that is off: elsewhere',
      shared({ job: 'PrepareVolume/1' }),
      { ...allReady, n1: 'off' },
      'n3',
    ],
    [
      'with a job on a machine that is off, and attached: there',
      shared({ job: 'GrowVolume/1', jobNode: 'n3', attachments: [entry('n2')] }),
      { ...allReady, n3: 'off' },
      'n2',
    ],
    [
      'with a job where nobody of ours named it: its own',
      shared({ job: 'GrowVolume/1', jobNode: 'n9' }),
      { ...allReady, n9: 'ready' },
      'n1',
    ],
    [
      'with a job that is done: where it is attached',
      shared({ job: 'GrowVolume/DONE', jobNode: 'n3', attachments: [entry('n2')] }),
      allReady,
      'n2',
    ],
    [
      'shared with what can be no node',
      shared({}, ['$(reboot)', '../n2', 'n1']),
      { '$(reboot)': 'ready', '../n2': 'ready' },
      'n1',
    ],
  ])('is chosen for a Volume: %s', (_, given, facts, expected) => {
    expect(workNode(given, named(facts))).toBe(expected);
  });
});

test('nodesOf lists all nodes that may run the work once, the Volume’s own first', () => {
  expect(nodesOf(shared())).toEqual(['n1', 'n3', 'n2']);
  expect(nodesOf(volume(onN2))).toEqual(['n2']);
  expect(nodesOf(shared({}, ['$(reboot)']))).toEqual(['n1']);
  const nothing = volume();
  expect(
    nodesOf({ ...nothing, spec: { ...nothing.spec, attachableNodes: null as never } }),
  ).toEqual(['n1']);
});

test.each<[string, VolumeStatus, string, VolumeStatus]>([
  [
    'a job elsewhere is noted',
    { job: 'GrowVolume/1' },
    'n2',
    { job: 'GrowVolume/1', jobNode: 'n2' },
  ],
  ['a job of its own node is not', { job: 'GrowVolume/1' }, 'n1', { job: 'GrowVolume/1' }],
  [
    'no job is nowhere',
    { job: 'GrowVolume/DONE', jobNode: 'n2' },
    'n2',
    { job: 'GrowVolume/DONE' },
  ],
  [
    'the same job stays where it is',
    { job: 'Before/1', jobNode: 'n3' },
    'n2',
    { job: 'Before/1', jobNode: 'n3' },
  ],
])('withJobNode: %s', (_, status, node, expected) => {
  expect(withJobNode(shared({ job: 'Before/1' }), node, status)).toEqual(expected);
});
