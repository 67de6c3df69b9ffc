import { expect, test } from '@jest/globals';
import type { KubeNode, Pod, Toleration } from '../../src/api/core.ts';
import { type Taint, tolerationsLike, untoleratedTaint } from '../../src/model/tolerations.ts';

const podWith = (tolerations?: Toleration[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'db', namespace: 'prod' },
  spec: { ...(tolerations && { tolerations }) },
});
const lost = (key: string, more: object = {}) => ({
  ...{ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute' },
  ...more,
});
const LATER = { tolerationSeconds: 300 };
const DEFAULTS = [lost('not-ready', LATER), lost('unreachable', LATER)];
const DEDICATED = { key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' };
const SHORT = { key: 'spot', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };
const ALL = { operator: 'Exists' };

test.each<[string, Toleration[] | undefined, Toleration[]]>([
  ['none', undefined, []],
  ['those that the API server adds', DEFAULTS, []],
  ['a taint', [DEDICATED, ...DEFAULTS], [DEDICATED]],
  ['a taint for a time', [SHORT], [SHORT]],
  // The first toleration of a taint counts, so the pod leaves a lost node.
  ['all taints', [ALL], [...DEFAULTS, ALL]],
  ['all taints, with an empty key', [{ key: '', ...ALL }], [...DEFAULTS, { key: '', ...ALL }]],
  [
    'all taints of an effect',
    [{ ...ALL, effect: 'NoExecute' }],
    [...DEFAULTS, { ...ALL, effect: 'NoExecute' }],
  ],
  ['a lost node for ever', [lost('unreachable'), lost('not-ready')], []],
])('another pod tolerates like one that tolerates %s', (_, tolerations, expected) => {
  expect(tolerationsLike(podWith(tolerations))).toEqual(expected);
});

const TAINT: Taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };
const nodeWith = (...taints: Taint[]): KubeNode => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { taints } },
});

test.each<[string, Taint[], Toleration[] | undefined, Taint | undefined]>([
  ['no taint', [], undefined, undefined],
  ['a taint', [TAINT], undefined, TAINT],
  ['a tolerated taint', [TAINT], [DEDICATED], undefined],
  ['a taint with another value', [{ ...TAINT, value: 'web' }], [DEDICATED], expect.anything()],
  [
    'a taint of another effect',
    [{ ...TAINT, effect: 'NoExecute' }],
    [DEDICATED],
    expect.anything(),
  ],
  ['a preference', [{ ...TAINT, effect: 'PreferNoSchedule' }], [], undefined],
  [
    'a node that is not Ready',
    [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }],
    [],
    undefined,
  ],
  ['all taints', [TAINT], [ALL], undefined],
] as never)('finds what keeps pods away: %s', (_, taints, tolerations, expected) => {
  expect(untoleratedTaint(nodeWith(...taints), tolerations)).toEqual(expected);
});
