import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import type { Leftover } from '../../../src/api/leftover.ts';
import { type ReasonCode, refuse } from '../../../src/api/reasons.ts';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import type { Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { adoptionProblem, nodesToJudge } from '../../../src/controllers/volume/adoption.ts';
import { readContents } from '../../../src/controllers/volume/claimants.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { notReadyAgeBy } from '../../../src/model/node-health.ts';
import { ago, attachmentOn, NOW as NOW_2030, nodeNamed } from '../../support/cluster-objects.ts';
import { given, outcome, pending, prepared, type Row } from '../../support/decisions.ts';
import { freshNode, input, madeNode, NOW, readyNode, UID } from '../../support/volume-input.ts';
import { volumeNamed } from '../../support/volumes.ts';

/** Ages by a clock that is right. */
const AGE = notReadyAgeBy({ serverTime: () => NOW_2030 });
/** Time in ms. */
const SIX_MINUTES = 360_000;

const OLD = '11111111-2222-4333-8444-555555555555';
const TAINT = 'node.kubernetes.io/out-of-service';

const old = (more: Partial<VolumeStatus> = {}, spec: Partial<Volume['spec']> = {}): Volume => {
  const base = volumeNamed('old1', { prepared, ...more });
  return { ...base, metadata: { ...base.metadata, uid: OLD }, spec: { ...base.spec, ...spec } };
};
const unmade: Volume = { ...volumeNamed('old1'), metadata: { name: 'old1', uid: OLD } };
const adopter = (name: string, creationTimestamp: string, more: VolumeStatus = {}): Volume => {
  const base = volumeNamed(name, more);
  return {
    ...base,
    metadata: { ...base.metadata, creationTimestamp },
    spec: { ...base.spec, nodeName: 'n2', adopt: { uid: OLD } },
  };
};
const data1 = adopter('data1', '2030-01-01T00:00:01Z');
const leftover = (nodeName: string) =>
  ({
    metadata: { name: OLD },
    spec: { uid: OLD, volumeName: 'old1', nodeName, storageClassName: 'fast' },
  }) as Leftover;

const content = (uid: string, snapshotHandle?: string): VolumeSnapshotContent => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: { name: 'content', uid },
  spec: {
    volumeSnapshotRef: {},
    deletionPolicy: 'Delete',
    driver: 'volume.stowage.dev',
    source: snapshotHandle === undefined ? { volumeHandle: 'old1' } : { snapshotHandle },
  },
});

const ready = nodeNamed('n1', { ready: 'True' });
const off = nodeNamed('n1', { ready: 'Unknown', since: ago(10), taints: [TAINT] });
const silent = (seconds: number) => nodeNamed('n1', { ready: 'Unknown', since: ago(seconds) });

/** Problems that prevent data1 from adopting, by code. */
test.each<[ReasonCode, Partial<Parameters<typeof adoptionProblem>[2]>]>([
  ['AdoptsSnapshot', { contents: [content(OLD)] }],
  ['AdoptedByAnother', { volumes: [adopter('first', '2030-01-01T00:00:00Z'), data1] }],
  ['AdoptedVolumeAlive', { volumes: [old(), data1], nodeNamed: () => ready }],
  ['AdoptedVolumeUnfinished', { volumes: [old({ prepared: undefined as never }), data1] }],
  ['AdoptedLeftover', { leftover: leftover('n1'), nodeNamed: () => ready }],
])('an adoption is refused for %s', (code, claimants) => {
  const none = { volumes: [data1], leftover: undefined, contents: [], nodeNamed: () => undefined };
  const problem = adoptionProblem(data1, OLD, { ...none, ...claimants }, AGE, SIX_MINUTES);
  expect(problem?.reason.code).toBe(code);
});

describe('storage is adopted', () => {
  const shared = {
    attachableNodes: ['n1', 'n3'],
    sparseLoopDevice: { size: '1Gi', directory: '/s' },
  };
  const rows: [
    string,
    {
      volumes: Volume[];
      nodes?: KubeNode[];
      leftover?: Leftover;
      contents?: VolumeSnapshotContent[];
      volume?: Volume;
    },
    RegExp?,
  ][] = [
    ['if the earlier Volume is gone', { volumes: [data1] }],
    ['if its node is out of service', { volumes: [old(), data1], nodes: [off] }],
    ['if its node was NotReady for long', { volumes: [old(), data1], nodes: [silent(400)] }],
    ['if its Node no longer exists', { volumes: [old(), data1] }],
    [
      'if only a Leftover on a dead node remains',
      { volumes: [data1], leftover: leftover('n1'), nodes: [off] },
    ],
    [
      'if another Volume adopts other storage',
      {
        volumes: [
          data1,
          { ...adopter('x', ago(99)), spec: { ...data1.spec, adopt: { uid: UID } } },
        ],
      },
    ],
    [
      'if a later Volume requests it, too',
      { volumes: [data1, adopter('late', '2030-01-01T00:00:02Z')] },
    ],
    [
      'not if its node is Ready',
      { volumes: [old(), data1], nodes: [ready] },
      /belongs to Volume old1 on node n1, and node n1 is Ready$/,
    ],
    [
      'not on the same node, even without a Node',
      {
        volumes: [old({}, { nodeName: 'n2' }), data1],
        volume: { ...data1, spec: { ...data1.spec, nodeName: 'n1' } },
      },
      /belongs to Volume old1 on node n1, and this Volume is on the same node$/,
    ],
    [
      'not if a Leftover removes it on the same node',
      { volumes: [data1], leftover: leftover('n2') },
      /a Leftover removes .* from node n2, and this Volume is on the same node/,
    ],
    [
      'not if its node is Ready and has the taint',
      { volumes: [old(), data1], nodes: [nodeNamed('n1', { ready: 'True', taints: [TAINT] })] },
      /Ready, though it has the taint/,
    ],
    [
      'not if its node was NotReady only briefly',
      { volumes: [old(), data1], nodes: [silent(60)] },
      /NotReady for/,
    ],
    [
      'not if it is attached to another live node',
      {
        volumes: [old({ attachments: [attachmentOn('n3')] }), data1],
        nodes: [off, nodeNamed('n3', { ready: 'True' })],
      },
      /node n3 is Ready/,
    ],
    [
      'not if a node that shares it is only silent',
      {
        volumes: [old({}, shared), data1],
        nodes: [off, nodeNamed('n3', { ready: 'Unknown', since: ago(9999) })],
      },
      /n3 is NotReady .* may still write/,
    ],
    [
      'not if the Node of a node that shares it is gone',
      { volumes: [old({}, shared), data1], nodes: [off] },
      /Node n3 no longer exists, and the machine may still write/,
    ],
    [
      'not if it was never fully provisioned',
      { volumes: [unmade, data1], nodes: [off] },
      /Volume old1 .* never completed/,
    ],
    [
      'not if a Leftover removes it on a live node',
      { volumes: [data1], leftover: leftover('n1'), nodes: [ready] },
      /a Leftover removes/,
    ],
    [
      'if only other snapshots exist',
      { volumes: [data1], contents: [content(UID), content(UID, 'odd')] },
    ],
    [
      'not if it is a snapshot',
      { volumes: [data1], contents: [content(UID), content(OLD)] },
      /is the snapshot of VolumeSnapshotContent content, which cannot be adopted$/,
    ],
    [
      'not if a snapshot handle names its file',
      { volumes: [data1], contents: [content(UID, `file:n1:/srv/snapshots/${OLD}`)] },
      /is the snapshot of/,
    ],
    [
      'not if a snapshot handle names its logical volume',
      { volumes: [data1], contents: [content(UID, `lvm:n1:vg0/snap-${OLD}`)] },
      /is the snapshot of/,
    ],
    [
      'not if an earlier Volume adopts it',
      { volumes: [data1, adopter('first', '2030-01-01T00:00:00Z')] },
      /^Volume first adopts/,
    ],
    [
      'not if a Volume has adopted it',
      { volumes: [data1, adopter('has', '2030-01-01T00:00:09Z', { prepared })] },
      /^Volume has adopts/,
    ],
    [
      'not by a new Volume if an existing one adopts it',
      { volumes: [data1], volume: { ...data1, metadata: { name: 'new' } } },
      /^Volume data1 adopts/,
    ],
  ];
  test.each(rows)(
    '%s',
    (_, { volumes, nodes = [], leftover, contents = [], volume = data1 }, ...[why]) => {
      const named = (name: string) => nodes.find(({ metadata }) => metadata.name === name);
      const problem = adoptionProblem(
        volume,
        OLD,
        { volumes, leftover, contents, nodeNamed: named },
        AGE,
        SIX_MINUTES,
      );
      if (why === undefined) expect(problem).toBeUndefined();
      else
        expect(problem).toMatchObject({
          refusal: expect.stringMatching(why),
          hint: expect.stringMatching(/./),
        });
    },
  );

  test('by one Volume of two that were created in one second', () => {
    const volumes = [adopter('a', '2030-01-01T00:00:00Z'), adopter('b', '2030-01-01T00:00:00Z')];
    const claimants = { volumes, leftover: undefined, contents: [], nodeNamed: () => undefined };
    const refused = volumes.filter((volume) =>
      adoptionProblem(volume, OLD, claimants, AGE, SIX_MINUTES),
    );
    expect(refused.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  test('after each node that may write to it was judged', () => {
    const volumes = [
      old({ attachments: [attachmentOn('n3')], jobNode: 'n4' }, { attachableNodes: ['n1', 'n2'] }),
    ];
    expect(nodesToJudge(OLD, { volumes, leftover: leftover('n5') })).toEqual([
      'n1',
      'n2',
      'n3',
      'n4',
      'n5',
    ]);
  });
});

describe('a Volume that adopts storage', () => {
  const spec = { adopt: { uid: OLD } };
  const refusal = 'the storage is old1’s';
  const refused = {
    adoption: {
      problem: { ...refuse('AdoptedByAnother', { uid: OLD, volume: 'x' }), refusal, hint: 'Wait' },
    },
  };
  const allowed = { adoption: { problem: undefined } };
  const job = 'PrepareVolume/1';
  const waits = ['Pending', job, 'False', 'AdoptionRefused', expect.stringContaining(refusal)];
  const earlierFile = {
    realPath: `/var/lib/metalk8s/storage/sparse/${OLD}`,
    file: { type: 'file', sizeBytes: 1n << 30n, inode: '42' },
    signature: { found: 'one', type: 'xfs', uuid: OLD },
    beside: { owners: [], marks: [], unfinished: [] },
  } as const;
  const there = { ...freshNode, earlierFile };
  const step = { name: 'x', command: 'x' };
  const rows: Row[] = [
    [
      'reads the other claimants before its first job',
      given(pending(job), { spec, job: 'not-found' }),
      'read-claimants',
    ],
    [
      'waits while the adoption is refused',
      given(pending(job), { spec, job: 'not-found', node: there, ...refused }),
      waits,
    ],
    [
      'waits while the adoption is refused after its job died',
      given(pending(job), { spec, job: { state: 'died', step }, node: there, ...refused }),
      waits,
    ],
    [
      'continues a running job despite a refusal',
      given(pending(job), { spec, job: { state: 'running', step }, ...refused }),
      ['Pending', job, 'Unknown', 'Pending', 'x'],
    ],
    [
      'is provisioned by a completed job despite a refusal',
      given(pending(job), { spec, job: 'succeeded', node: readyNode, ...refused }),
      'forget-jobs',
    ],
    [
      'submits its job if the adoption is allowed',
      given(pending(job), { spec, job: 'not-found', node: there, ...allowed }),
      ['submit', expect.any(Number), 0],
    ],
    [
      'reads no claimants once it is provisioned',
      given(pending('PrepareVolume/2', { prepared }), { spec, job: 'not-found' }),
      'observe',
    ],
  ];
  test.each(rows)('%s', (_, parts, expected) => {
    expect(outcome(parts)).toEqual(expected);
  });

  test('gets a PersistentVolume with the file system of the storage, not of the class', () => {
    const node = { ...madeNode, signature: { found: 'one', type: 'xfs', uuid: UID } } as const;
    const parts = given(pending('PrepareVolume/DONE', { prepared }), {
      spec,
      livePv: { found: undefined },
    });
    expect(outcome(parts)).toBe('observe');
    const { action } = decide(input({ ...parts, observation: { known: node } }), NOW);
    expect(action).toMatchObject({ do: 'create-pv', pv: { spec: { local: { fsType: 'xfs' } } } });
  });
});

test('missing snapshot CRDs mean no snapshots, but a forbidden list is an error', async () => {
  const answering = (code: number) =>
    ({
      list: () =>
        Promise.reject(new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, code, 'GET')),
    }) as unknown as KubeClient;
  expect(await readContents(answering(404))).toEqual([]);
  await expect(readContents(answering(403))).rejects.toThrow(/403/);
});
