import { describe, expect, test } from '@jest/globals';
import type { StorageClass } from '../../../src/api/core.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { managedOf, wantedOf } from '../../../src/controllers/attachdetach/desired-state.ts';
import { maxWaitProblem } from '../../../src/controllers/attachdetach/max-wait.ts';
import { always, onDemand, shared, use, volumeObject } from '../../support/attachment-view.ts';

const defaults = { maxWaitForUnmountMs: 360_000, storageClass: undefined };
const classWith = (text: string): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'sc', annotations: { 'stowage.dev/max-wait-for-unmount': text } },
  provisioner: 'p',
});
const three = { attachPolicy: 'OnDemand', attachableNodes: ['n1', 'n2', 'n2'] } as const;
const sharedSpec = { ...three, attachableNodes: [...three.attachableNodes] };
const modes = (...accessModes: string[]) => ({
  ...sharedSpec,
  template: { spec: { accessModes } },
});

test('a Volume without options is always attached to the node that provisioned it', () => {
  const managed = managedOf(volumeObject({ nodeName: 'n9' }), defaults);
  expect(managed).toEqual(always({ nodes: ['n1'], home: 'n1' }));
});

describe('managedOf', () => {
  test.each<[string, Volume, object]>([
    [
      'not provisioned yet',
      volumeObject({}, { prepared: undefined }),
      { attachable: false, home: 'n1' },
    ],
    ['prepared is null', volumeObject({}, { prepared: null as never }), { attachable: false }],
    ['being deleted', volumeObject({}, {}, { deletionTimestamp: 'now' }), { attachable: false }],
    [
      'on demand',
      volumeObject({ attachPolicy: 'OnDemand' }),
      { policy: 'OnDemand', nodes: ['n1'] },
    ],
    [
      'on several nodes, each once',
      volumeObject(sharedSpec),
      { nodes: ['n1', 'n2'], readOnly: false },
    ],
    ['attachableNodes is empty', volumeObject({ attachableNodes: [] }), { nodes: ['n1'] }],
    [
      'attachableNodes is null',
      volumeObject({ attachableNodes: null as never }),
      { nodes: ['n1'], readOnly: false },
    ],
    ['ReadOnlyMany on several nodes', volumeObject(modes('ReadOnlyMany')), { readOnly: true }],
    [
      'ReadOnlyMany and ReadWriteOnce',
      volumeObject(modes('ReadOnlyMany', 'ReadWriteOnce')),
      { readOnly: false },
    ],
    ['ReadWriteOnce', volumeObject(modes('ReadWriteOnce')), { readOnly: false }],
    [
      'ReadOnlyMany on one node',
      volumeObject({ template: { spec: { accessModes: ['ReadOnlyMany'] } } }),
      { readOnly: false },
    ],
  ])('returns policy, nodes and mode of a Volume: %s', (_, volume, expected) => {
    expect(managedOf(volume, defaults)).toMatchObject(expected);
  });
});

test.each([
  ['10m', 600_000, false],
  ['90s', 90_000, false],
  ['1h', 3_600_000, false],
  ['1h30m', 5_400_000, false],
  ['never', Infinity, false],
  ['0s', Infinity, true],
  ['', Infinity, true],
  ['10', Infinity, true],
  ['soon', Infinity, true],
  [`${'9'.repeat(80)}s`, Infinity, true],
])('a class with max-wait-for-unmount %j waits %d ms', (text, ms, odd) => {
  const storageClass = classWith(text);
  const { maxWaitForUnmountMs } = managedOf(volumeObject(), { ...defaults, storageClass });
  expect(maxWaitForUnmountMs).toBe(ms);
  const problem = maxWaitProblem(storageClass);
  expect(problem !== undefined).toBe(odd);
  if (odd)
    expect(problem).toMatch(
      /^StorageClass sc: annotation stowage\.dev\/max-wait-for-unmount is ".*"/,
    );
});

test('a class without max-wait-for-unmount uses the value of the flag', () => {
  const { maxWaitForUnmountMs } = managedOf(volumeObject(), {
    maxWaitForUnmountMs: Infinity,
    storageClass: { ...classWith(''), metadata: { name: 'sc' } },
  });
  expect(maxWaitForUnmountMs).toBe(Infinity);
  expect(maxWaitProblem(undefined)).toBeUndefined();
});

describe('wantedOf', () => {
  const pods = [use('b', 'n2'), use('a', 'n2'), use('c', 'n1'), use('a', 'n2')];

  test('returns each node once with its pods, in a stable order', () => {
    expect(wantedOf(shared(), pods)).toEqual([
      { node: 'n1', pods: [use('c', 'n1')] },
      { node: 'n2', pods: [use('a', 'n2'), use('b', 'n2')] },
    ]);
  });

  test.each([
    ['Always: the home node', always(), ['n1']],
    ['Always, not attachable', always({ attachable: false }), []],
    ['OnDemand: none', onDemand(), []],
    ['a Volume that is gone', undefined, []],
  ])('returns the nodes without pods: %s', (_, volume, nodes) => {
    expect(wantedOf(volume, []).map(({ node }) => node)).toEqual(nodes);
  });

  test('includes nodes of pods that are not allowed there or whose Volume is gone', () => {
    expect(wantedOf(always(), [use('a', 'n7')]).map(({ node }) => node)).toEqual(['n1', 'n7']);
    expect(wantedOf(undefined, [use('a', 'n7')])).toEqual([{ node: 'n7', pods: [use('a', 'n7')] }]);
  });
});
