import { describe, expect, test } from '@jest/globals';
import type { ClaimCondition, KubeNode } from '../../../src/api/core.ts';
import { type ReasonCode, reason } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { saidBy } from '../../../src/controllers/lib/event-key.ts';
import { decideClaim } from '../../../src/controllers/provisioner/decide-claim.ts';
import { claimVolume } from '../../../src/model/claim-volume.ts';
import {
  claim,
  codeOf,
  GIB,
  input,
  NOW,
  node,
  options,
  outcome,
  type Parts,
  pod,
  storageClass,
  UID,
  volume,
  waiting,
} from './claim-input.ts';

const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
const ROLE = 'node-role.kubernetes.io/control-plane';
const tainted = (taints: NonNullable<KubeNode['spec']>['taints'] = []): KubeNode => ({
  ...node('n1'),
  spec: { taints },
});
const CONTROL_PLANE = tainted([{ key: ROLE, effect: 'NoSchedule' }]);
const AGAIN = `The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`;
const selected = (more: Partial<ReturnType<typeof claim>['spec']> = {}) =>
  claim(more, { node: 'n1' });
const n1 = { n1: { freeBytes: 2n * GIB } };
const ready = {
  is: 'ready',
  source: { snapshotContentName: 'c' },
  nodes: ['n1'],
} as const;

const QCOW2 = {
  is: 'ready',
  source: {
    populator: {
      builtin: 'Image',
      namespace: 'ns',
      name: 'i',
      options: { source: 'x', format: 'qcow2' },
    },
    uid: 'u',
  },
  nodes: undefined,
} as const;

const NOWHERE = { key: 'zone', values: ['a'] };
const PAUSED = { annotations: { 'stowage.dev/paused': 'true' } };
const FROM = { claim: claim({ dataSource: snapshot }) };
const WAITS = { is: 'waits', message: 'x', detail: reason('SourceItself'), on: [] } as const;

type Row = [string, Parts, string];

describe('a claim that is not bound', () => {
  test.each<Row>([
    [
      'of another provisioner is left alone',
      { storageClass: storageClass({ provisioner: 'x.example.org' }) },
      'rest',
    ],
    [
      'whose class is not there waits',
      { storageClass: storageClass(), options: undefined },
      'rest',
    ],
    ['that is being deleted gets nothing', { claim: claim({}, { deleted: true }) }, 'rest'],
    ['that is lost gets nothing anew', { claim: claim({}, { status: { phase: 'Lost' } }) }, 'rest'],
    [
      'for which somebody chose a PersistentVolume',
      { claim: claim({ volumeName: 'pv1' }) },
      'rest',
    ],
    [
      'is refused where the class asks for a file system that there is not',
      { storageClass: storageClass({ parameters: { fsType: 'btrfs' } }) },
      'Warning ProvisioningFailed: storage class dynamic: parameter fsType is "btrfs", but must be ext4 or xfs',
    ],
    [
      'is refused where the class has options that mkfs may not have',
      { storageClass: storageClass({ parameters: { mkfsOptions: '-q' } }) },
      'Warning ProvisioningFailed: storage class dynamic: parameter mkfsOptions: "-q" is not a JSON list of strings, such as ["-m", "0"]',
    ],
    [
      'of mode Block gets no file system',
      {
        claim: claim({ volumeMode: 'Block' }),
        storageClass: storageClass({ parameters: { fsType: 'x' } }),
      },
      `create pvc-${UID} on n1`,
    ],
    [
      'of a class that makes no sense is told so',
      { storageClass: storageClass({ parameters: { size: '1' } }) },
      'Warning ProvisioningFailed: storage class dynamic: unknown parameter "size". Known parameters: type, directory, requireMount, vgName, thinPool, fsType, mkfsOptions, overcommit, overwriteFreeExtents, onDelete, attachPolicy',
    ],
    [
      'for many writers is refused',
      { claim: claim({ accessModes: ['ReadWriteMany'] }) },
      'Warning ProvisioningFailed: access mode ReadWriteMany is not supported: writes from two nodes would corrupt the device. Request ReadWriteOnce',
    ],
    [
      'with a selector is refused',
      { claim: claim({ selector: {} }) },
      'Warning ProvisioningFailed: the claim has a selector, which matches existing volumes only: none is provisioned for it. Remove the selector, or use a static storage class',
    ],
    ['looks for room first', { rooms: {} }, 'look-for-room n1'],
    [
      'looks for room on all nodes at once',
      { nodes: [node('n1'), node('n2'), node('n3')], rooms: { n2: { freeBytes: 9n * GIB } } },
      'look-for-room n1 n3',
    ],
    ['gets a Volume where there is room', {}, `create pvc-${UID} on n1`],
    ['gets one of exactly the room that there is', { rooms: n1 }, `create pvc-${UID} on n1`],
    [
      'goes where there is most room',
      { nodes: [node('n1'), node('n2')], rooms: { ...n1, n2: { freeBytes: 3n * GIB } } },
      `create pvc-${UID} on n2`,
    ],
    [
      'goes to no node that is not Ready, or paused',
      {
        nodes: [
          node('n1', 'False'),
          node('n2', 'True', { annotations: { 'stowage.dev/paused': 'true' } }),
        ],
      },
      'Warning ProvisioningFailed: node n1 is not Ready; node n2 is paused',
    ],
    [
      'goes to no node that its class leaves out',
      {
        storageClass: storageClass({
          allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
        }),
        nodes: [node('n1', 'True', { labels: { zone: 'b' } })],
      },
      'Warning ProvisioningFailed: allowedTopologies of the storage class exclude node n1',
    ],
    [
      'is told how much room is missing',
      { rooms: { n1: { freeBytes: GIB } } },
      'Warning ProvisioningFailed: node n1 has 1073741824 bytes available in …, and the claim needs 2147483648',
    ],
    [
      'is told how much room is missing with the download of a qcow2',
      {
        claim: claim({ dataSourceRef: { apiGroup: 'stowage.dev', kind: 'Image', name: 'i' } }),
        source: QCOW2,
        rooms: { n1: { freeBytes: 4n * GIB } },
      },
      'Warning ProvisioningFailed: node n1 has 4294967296 bytes available in …, and the claim needs 4345298944, including the download of its qcow2',
    ],
    [
      'is told that nobody knows how much room there is',
      { rooms: { n1: { unknown: 'it is away' } } },
      'Warning ProvisioningFailed: available capacity of node n1 is unknown: it is away',
    ],
    [
      'is told that its directory is not mounted',
      { rooms: { n1: { refused: 'it is not mounted' } } },
      'Warning ProvisioningFailed: node n1 has no available capacity: it is not mounted',
    ],
    [
      'waits without nodes',
      { nodes: [] },
      'Warning ProvisioningFailed: no node is eligible for the volume',
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });

  test('gets an event once, and is requeued', () => {
    const detail = reason('NoNode');
    const told = saidBy({ type: 'Warning', reason: 'ProvisioningFailed', message: '', detail });
    expect(outcome({ nodes: [], told })).toBe('again in 30000');
  });
});

describe('a claim that waits for its first pod', () => {
  test.each<Row>([
    ['gets nothing before', {}, 'rest'],
    [
      'gets its volume on the node that was chosen',
      { claim: selected() },
      `create pvc-${UID} on n1`,
    ],
    ['gets none on a node of another daemon', { claim: claim({}, { node: 'n9' }) }, 'rest'],
    [
      'gives back a node that is gone',
      { claim: claim({}, { node: 'n9' }), isGone: () => true },
      `reschedule from n9: node n9 does not exist. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'gets nothing while no pod uses it, whoever chose a node',
      { claim: selected(), consumers: [] },
      'rest',
    ],
    [
      'gets its volume where its pod is',
      { claim: selected(), nodes: [CONTROL_PLANE], consumers: [pod({ nodeName: 'n1' })] },
      `create pvc-${UID} on n1`,
    ],
    [
      'gives back a node where its pod is not',
      { claim: selected(), consumers: [pod({ nodeName: 'n2' })] },
      `reschedule from n1: the pods of the claim run on nodes other than n1. ${AGAIN}`,
    ],
    [
      'gives back a node whose taint its pods do not tolerate',
      { claim: selected(), nodes: [CONTROL_PLANE], consumers: [pod(), pod({ nodeName: 'n2' })] },
      `reschedule from n1: no pod of the claim tolerates taint ${ROLE}:NoSchedule of node n1. ${AGAIN}`,
    ],
    ...[
      { key: ROLE, operator: 'Exists' },
      { key: ROLE, operator: 'Equal', value: '', effect: 'NoSchedule' },
      { key: ROLE },
      { operator: 'Exists' },
    ].map(
      (toleration): Row => [
        `follows a choice that its pod tolerates by ${JSON.stringify(toleration)}`,
        {
          claim: selected(),
          nodes: [CONTROL_PLANE],
          consumers: [pod(), pod({ tolerations: [toleration] })],
        },
        `create pvc-${UID} on n1`,
      ],
    ),
    ...[
      { key: ROLE, operator: 'Exists', effect: 'NoExecute' },
      { key: ROLE, operator: 'Equal', value: 'x' },
      { key: 'other', operator: 'Exists' },
      { operator: 'Equal' },
    ].map(
      (toleration): Row => [
        `does not follow one that it tolerates not by ${JSON.stringify(toleration)}`,
        {
          claim: selected(),
          nodes: [CONTROL_PLANE],
          consumers: [pod({ tolerations: [toleration] })],
        },
        expect.stringContaining(
          'reschedule from n1: no pod of the claim tolerates',
        ) as unknown as string,
      ],
    ),
    [
      'follows a choice of a node with taints that do not keep pods away, or that are of its readiness',
      {
        claim: selected(),
        nodes: [
          tainted([
            { key: 'a', effect: 'PreferNoSchedule' },
            { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
          ]),
        ],
      },
      `create pvc-${UID} on n1`,
    ],
    [
      "leaves the node to another's populator",
      {
        claim: selected({ dataSourceRef: { apiGroup: 'x.example', kind: 'Y', name: 'z' } }),
        nodes: [node('n1', 'False')],
      },
      'resolve-source',
    ],
    [
      'gives back a node that is not Ready',
      { claim: selected(), nodes: [node('n1', 'False')] },
      `reschedule from n1: node n1 is not Ready. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'gives back a node without room',
      { claim: selected(), rooms: { n1: { freeBytes: 5n } } },
      `reschedule from n1: node n1 has 5 bytes available in …, and the claim needs 2147483648. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'gives back a node where its data is not',
      { claim: selected({ dataSource: snapshot }), source: { ...ready, nodes: ['n2'] } },
      `reschedule from n1: the data source of the claim is on node n2, not on n1. Schedule its pod there with nodeSelector kubernetes.io/hostname. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome({ storageClass: waiting, ...parts })).toEqual(expected);
  });
});

describe('a claim with a data source', () => {
  const from = { claim: claim({ dataSource: snapshot }) };
  test.each<Row>([
    ['asks what that is first', from, 'resolve-source'],
    [
      'is told why it waits',
      { ...from, source: { is: 'waits', message: 'no grant', on: [] } },
      'Warning ProvisioningFailed: no grant',
    ],
    [
      'of another is left to that',
      { ...from, source: { is: 'other', message: 'x', on: [] } },
      'Normal Provisioning: x',
    ],
    [
      'is made where the data is, however much room there is elsewhere',
      {
        ...from,
        source: ready,
        nodes: [node('n2'), node('n1')],
        rooms: { ...n1, n2: { freeBytes: 9n * GIB } },
      },
      `create pvc-${UID} on n1`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });

  test('resolves a data source that the API server dropped, too', () => {
    const applied = claim();
    const manifest = {
      ...applied,
      spec: { ...applied.spec, dataSourceRef: { ...snapshot, namespace: 'prod' } },
    };
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(manifest),
    };
    const parts = { claim: { ...applied, metadata: { ...applied.metadata, annotations } } };
    expect(outcome(parts)).toBe('resolve-source');
    expect(outcome({ ...parts, source: { is: 'waits', message: 'dropped', on: [] } })).toBe(
      'Warning ProvisioningFailed: dropped',
    );
  });

  test('passes the source to the Volume', () => {
    const { action } = decideClaim(input({ ...from, source: ready }), NOW);
    expect(action).toMatchObject({
      do: 'create-volume',
      volume: { spec: { source: { snapshotContentName: 'c' } } },
    });
  });

  test.each([['dataSource'], ['dataSourceRef']] as const)(
    'never gets an empty volume by %s',
    (field) => {
      expect(outcome({ claim: claim({ [field]: snapshot }) })).toBe('resolve-source');
    },
  );
});

describe('a claim whose Volume exists', () => {
  test.each<Row>([
    ['waits for it', { volume: volume() }, 'rest'],
    [
      'is told why that could not be made',
      {
        volume: volume({
          status: {
            phase: 'Failed',
            conditions: [{ type: 'Ready', status: 'False', message: 'no space' }],
          },
        }),
      },
      `Warning ProvisioningFailed: Volume pvc-${UID} on node n1 could not be provisioned: no space`,
    ],
    [
      'is told that without commands and paths of the node',
      {
        volume: volume({
          status: {
            phase: 'Failed',
            conditions: [
              { type: 'Ready', status: 'False', message: "failed: 'mkfs' '/data/x'" },
              { type: 'Provisioned', status: 'False', message: 'mkfs failed: /data/x is full' },
            ],
          },
        }),
      },
      `Warning ProvisioningFailed: Volume pvc-${UID} on node n1 could not be provisioned: mkfs failed: … is full`,
    ],
    [
      'is told that this waits for what it starts from',
      {
        volume: volume({
          status: {
            phase: 'Pending',
            conditions: [
              {
                type: 'Ready',
                status: 'Unknown',
                reason: 'WaitingForSource',
                message: 'x is gone',
              },
            ],
          },
        }),
      },
      `Warning ProvisioningFailed: Volume pvc-${UID} waits: x is gone`,
    ],
    [
      'is told that this waits for its node',
      {
        volume: volume({
          status: {
            phase: 'Pending',
            conditions: [
              {
                type: 'Ready',
                status: 'Unknown',
                reason: 'NodeUnreachable',
                message: 'ssh: port 22: x',
              },
            ],
          },
        }),
      },
      `Warning ProvisioningFailed: Volume pvc-${UID} waits for a valid answer from node n1. Find the cause: stowage why volume pvc-${UID}`,
    ],
    [
      'but was made by somebody else is told so',
      { volume: { ...volume(), spec: { ...volume().spec, template: {} } } },
      `Warning ProvisioningFailed: Volume pvc-${UID} exists, and was not created for this claim. Delete it: stowage delete volume pvc-${UID}`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });
});

describe('a claim whose Volume was refused because free extents contain data', () => {
  const lvm = (parameters: Record<string, string> = {}) => ({
    type: 'lvm',
    vgName: 'vg0',
    ...parameters,
  });
  const thick = { ...waiting, parameters: lvm() };
  const consenting = { ...waiting, parameters: lvm({ overwriteFreeExtents: 'true' }) };
  const refused = (more: Partial<Volume> = {}, spec: Partial<Volume['spec']> = {}): Volume => {
    const made = claimVolume(claim(), options(thick), 'n1', undefined);
    const reason = 'FreeExtentsCarryData';
    return {
      ...made,
      spec: { ...made.spec, ...spec },
      status: {
        phase: 'Failed',
        conditions: [{ type: 'Ready', status: 'False', reason, message: 'xfs:x' }],
      },
      ...more,
    };
  };
  const WHY =
    'free extents of volume group vg0 on node n1 contain data of removed volumes, and the storage class does not consent to overwriting it (parameter overwriteFreeExtents)';
  const GONE = `Volume pvc-${UID} is deleted: nothing was created on the node`;
  const AGAIN = `take back pvc-${UID} and n1: ${WHY}. The scheduler must choose another node for the claim. ${GONE}`;
  const ALONE = `take back pvc-${UID}: ${WHY}. ${GONE}`;

  test.each([
    ['is refused', refused(), true],
    [
      'is being deleted',
      refused({ metadata: { name: `pvc-${UID}`, deletionTimestamp: 'x' } }),
      undefined,
    ],
    ['has a consent of somebody', refused({}, { overwrite: 'xfs:x' }), undefined],
  ])('counts as a failed attempt only if it is refused: a Volume that %s', (_, volume, counts) => {
    const parts = { claim: selected(), storageClass: thick, volume };
    expect(decideClaim(input(parts), NOW).failed).toBe(counts);
  });

  test.each<Row>([
    [
      'gives the node back with it',
      { claim: selected(), storageClass: thick, volume: refused() },
      AGAIN,
    ],
    [
      'gives back no node that was chosen since',
      { claim: claim({}, { node: 'n2' }), storageClass: thick, volume: refused() },
      ALONE,
    ],
    [
      'has none to give back where the class does not wait for a pod',
      { storageClass: { ...thick, volumeBindingMode: 'Immediate' }, volume: refused() },
      ALONE,
    ],
    [
      'keeps the node where the class consents by now',
      { claim: selected(), storageClass: consenting, volume: refused() },
      ALONE,
    ],
    [
      'waits until it is gone',
      {
        claim: selected(),
        storageClass: thick,
        volume: refused({
          metadata: { name: `pvc-${UID}`, deletionTimestamp: '2026-03-01T12:00:00Z' },
        }),
      },
      'rest',
    ],
    [
      'leaves one that somebody gave a consent',
      { claim: selected(), storageClass: thick, volume: refused({}, { overwrite: 'xfs:x' }) },
      'rest',
    ],
    [
      'leaves one that was made',
      {
        claim: selected(),
        storageClass: thick,
        volume: refused({
          status: {
            ...refused().status,
            prepared: { node: 'n1', paths: ['/dev/vg0/a'], identity: '' },
          },
        }),
      },
      'rest',
    ],
    [
      'leaves one that has a PersistentVolume',
      {
        claim: selected(),
        storageClass: thick,
        volume: refused(),
        pv: {} as NonNullable<Parts['pv']>,
      },
      'rest',
    ],
    [
      'is not made there again as large for a while',
      {
        claim: selected(),
        storageClass: thick,
        rooms: { n1: { freeBytes: 9n * GIB, refusedBytes: 2n * GIB } },
      },
      `reschedule from n1: ${WHY}. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'is made there if it is smaller',
      {
        claim: selected(),
        storageClass: thick,
        rooms: { n1: { freeBytes: 9n * GIB, refusedBytes: 3n * GIB } },
      },
      `create pvc-${UID} on n1`,
    ],
    [
      'is made on another node where no pod is waited for',
      {
        storageClass: { ...thick, volumeBindingMode: 'Immediate' },
        nodes: [node('n1'), node('n2')],
        rooms: { n1: { freeBytes: 9n * GIB, refusedBytes: 2n * GIB }, n2: { freeBytes: 3n * GIB } },
      },
      `create pvc-${UID} on n2`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });

  test('requests the overwrite in the Volume only if the class consents', () => {
    const spec = (of: typeof thick) => claimVolume(claim(), options(of), 'n1', undefined).spec;
    expect(spec(consenting)).toMatchObject({
      overwrite: 'free extents',
      lvmLogicalVolume: { vgName: 'vg0' },
    });
    expect(spec(thick)).not.toHaveProperty('overwrite');
  });
});

describe('mode Block of a class of logical volumes', () => {
  const of = (parameters: object) =>
    storageClass({ parameters: { type: 'lvm', vgName: 'vg0', ...parameters } });
  const shown =
    'a volume of mode Block cannot be expanded in volume group vg0: the added extents would expose data of earlier logical volumes. Use a class with a thinPool for volumes to expand, or copy the data to a larger claim';
  const block = claim({ volumeMode: 'Block' });
  const grown = (mode: 'Block' | 'Filesystem', parameters: object): Parts => ({
    claim: claim(
      { volumeName: `pvc-${UID}`, resources: { requests: { storage: '3Gi' } } },
      { status: { phase: 'Bound', capacity: { storage: '2Gi' } } },
    ),
    volume: claimVolume(claim({ volumeMode: mode }), options(of(parameters)), 'n1', undefined),
    storageClass: of(parameters),
  });
  const made = `create pvc-${UID} on n1`;
  test.each<Row>([
    ['without Wipe', { claim: block, storageClass: of({}) }, made],
    ['that wipes', { claim: block, storageClass: of({ onDelete: 'Wipe' }) }, made],
    ['in a thin pool', { claim: block, storageClass: of({ thinPool: 'p' }) }, made],
    ['and mode Filesystem', { storageClass: of({}) }, made],
    ['and files', { claim: block }, made],
    ['that grows', grown('Block', {}), `Warning VolumeResizeFailed: ${shown}`],
    [
      'that grows and wipes',
      grown('Block', { onDelete: 'Wipe' }),
      `Warning VolumeResizeFailed: ${shown}`,
    ],
    ['that grows in a thin pool', grown('Block', { thinPool: 'p' }), 'expand to 3Gi'],
    ['that grows, and mode Filesystem', grown('Filesystem', {}), 'expand to 3Gi'],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });
});

const PRIME = '7c0a3c1d-2f7b-4f0e-8f27-2b1d6d0c9a51';

describe('a claim that is bound', () => {
  const bound = (asked: string, has: string, conditions: ClaimCondition[] = []) =>
    claim(
      { volumeName: `pvc-${UID}`, resources: { requests: { storage: asked } } },
      { status: { phase: 'Bound', capacity: { storage: has }, conditions } },
    );
  const pv = (storage: string) => ({ spec: { capacity: { storage } } }) as NonNullable<Parts['pv']>;
  const larger = { ...volume(), spec: { ...volume().spec, sparseLoopDevice: { size: '3Gi' } } };
  const resizing = { type: 'Resizing', status: 'True' } as const;
  const told = {
    ...resizing,
    message: `Volume pvc-${UID} is being expanded to 3Gi`,
    lastTransitionTime: '2026-03-01T11:00:00Z',
  };
  const ready = {
    type: 'Ready',
    status: 'True',
    message: 'expanding to 3Gi: attempt 1: no',
  } as const;
  /**
   * Provisioned for a prime claim, and assigned to the claim of that UID after it was populated.
   */
  const filled: Volume = {
    ...claimVolume(
      { ...claim(), metadata: { namespace: 'stowage', name: 'prime', uid: PRIME } },
      options(),
      'n1',
      undefined,
    ),
    metadata: { name: `pvc-${PRIME}`, uid: 'v' },
  };
  const givenTo = (uid: string) =>
    ({
      metadata: { ownerReferences: [{ uid: 'v' }] },
      spec: { claimRef: { uid }, capacity: { storage: '2Gi' } },
    }) as NonNullable<Parts['pv']>;
  const stuck: Volume = { ...larger, status: { phase: 'Available', conditions: [ready] } };
  test.each<Row>([
    ['and has what it asks for rests', { claim: bound('2Gi', '2Gi'), volume: volume() }, 'rest'],
    [
      'to what was made by hand is left alone',
      { claim: bound('3Gi', '2Gi'), volume: undefined },
      'rest',
    ],
    [
      'and asks for more: room first',
      { claim: bound('3Gi', '2Gi'), volume: volume(), rooms: {} },
      'look-for-room n1',
    ],
    [
      'and asks for more: the Volume grows',
      { claim: bound('3Gi', '2Gi'), volume: volume() },
      'expand to 3Gi',
    ],
    [
      'to what was filled for it, and asks for more: the Volume grows',
      { claim: bound('3Gi', '2Gi'), volume: filled, pv: givenTo(UID) },
      'expand to 3Gi',
    ],
    [
      'to what was filled for another one leaves that alone',
      { claim: bound('3Gi', '2Gi'), volume: filled, pv: givenTo('another') },
      'rest',
    ],
    [
      'and asks for more than there is room for',
      { claim: bound('3Gi', '2Gi'), volume: volume(), rooms: { n1: { freeBytes: 5n } } },
      'Warning VolumeResizeFailed: node n1 has 5 bytes available in …, and the expansion needs 1073741824 more',
    ],
    [
      'is told that it grows',
      { claim: bound('3Gi', '2Gi'), volume: larger, pv: pv('2Gi') },
      `status {"conditions":[{"type":"Resizing","status":"True","message":"Volume pvc-${UID} is being expanded to 3Gi","lastTransitionTime":"2026-03-01T12:00:00Z"}]}`,
    ],
    [
      'is told that once',
      { claim: bound('3Gi', '2Gi', [told]), volume: larger, pv: pv('2Gi') },
      'rest',
    ],
    [
      'is told what keeps it from growing, too',
      { claim: bound('3Gi', '2Gi', [told]), volume: stuck, pv: pv('2Gi') },
      'status {"conditions":[{"type":"Resizing","status":"True","message":"expanding to 3Gi: attempt 1: no","lastTransitionTime":"2026-03-01T11:00:00Z"}]}',
    ],
    [
      'is told that it has grown',
      { claim: bound('3Gi', '2Gi', [resizing]), volume: larger, pv: pv('3221225472') },
      'status {"capacity":{"storage":"3221225472"},"conditions":[]}',
    ],
    [
      'of which the kubelet told first, is not told that it grows any more',
      { claim: bound('3Gi', '3Gi', [resizing]), volume: larger, pv: pv('3Gi') },
      'status {"conditions":[]}',
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toBe(expected);
  });
});

describe('the reason in the event of a claim', () => {
  const parameters = { type: 'lvm', vgName: 'vg0' };
  const lvm = storageClass({ parameters });
  const off = storageClass({ allowedTopologies: [{ matchLabelExpressions: [NOWHERE] }] });
  const on = (...names: string[]) => names.map((name) => node(name));
  const refusedAt = { freeBytes: 9n * GIB, refusedBytes: GIB };
  const failedWith = (detail?: ReturnType<typeof reason>, condition: object = {}) =>
    volume({
      status: {
        phase: 'Failed',
        conditions: [{ type: 'Ready', status: 'False', message: 'x', ...condition, detail }],
      },
    } as Partial<Volume>);
  test.each<[string, Parts, ReasonCode | undefined]>([
    ['a class', { storageClass: storageClass({ parameters: { a: 'b' } }) }, 'StorageClassUnusable'],
    [
      'its file system',
      { storageClass: storageClass({ parameters: { fsType: 'x' } }) },
      'StorageClassUnusable',
    ],
    ['many writers', { claim: claim({ accessModes: ['ReadWriteMany'] }) }, 'ReadWriteManyRefused'],
    ['a selector', { claim: claim({ selector: {} }) }, 'SelectorRefused'],
    [
      "another's Volume",
      { volume: { ...volume(), spec: { ...volume().spec, template: {} } } },
      'VolumeOfAnotherClaim',
    ],
    ['its node', { volume: failedWith(undefined, { reason: 'NodeUnclear' }) }, 'NodeNotAnswering'],
    ['its Volume', { volume: failedWith(reason('JobDied', {})) }, 'JobDied'],
    ['a Volume of an earlier daemon', { volume: failedWith() }, undefined],
    ['no node', { nodes: [] }, 'NoNode'],
    ['a pause', { nodes: [node('n1', 'True', PAUSED)] }, 'NodePaused'],
    ['a node that is not Ready', { nodes: [node('n1', 'False')] }, 'NodeNotReady'],
    ['a topology', { storageClass: off }, 'TopologyNotAllowed'],
    ['room', { rooms: { n1: { freeBytes: 1n } } }, 'NoRoom'],
    ['a directory', { rooms: { n1: { refused: 'x' } } }, 'NodeDirectoryUnusable'],
    ['what is not known', { rooms: { n1: { unknown: 'x' } } }, 'RoomUnknown'],
    ['free extents', { storageClass: lvm, rooms: { n1: refusedAt } }, 'ConsentMissing'],
    [
      'several nodes: the one of which most can be done',
      {
        nodes: [node('n1', 'False'), ...on('n2', 'n3')],
        rooms: { n2: { unknown: 'x' }, n3: { freeBytes: 1n } },
      },
      'NoRoom',
    ],
    ['what it starts from', { ...FROM, source: WAITS }, 'SourceItself'],
    ['another populator', { ...FROM, source: { ...WAITS, is: 'other' } }, 'SourceItself'],
  ])('names the cause: %s', (_, parts, code) => {
    expect(codeOf(parts)).toBe(code);
  });

  test.each<[string, Parts, ReasonCode]>([
    ['gone', { claim: claim({}, { node: 'n9' }), isGone: () => true }, 'SelectedNodeMissing'],
    ['tainted', { nodes: [CONTROL_PLANE] }, 'TaintNotTolerated'],
    ['not that of its pods', { consumers: [pod({ nodeName: 'n2' })] }, 'PodsElsewhere'],
    [
      'not that of its data',
      { claim: selected({ dataSource: snapshot }), source: { ...ready, nodes: ['n2'] } },
      'SourceElsewhere',
    ],
  ])('names a node that is %s', (_, parts, code) => {
    expect(codeOf({ claim: selected(), storageClass: waiting, ...parts })).toBe(code);
  });

  test.each<[string, Parts, ReasonCode]>([
    [
      'that it has no room for',
      { volume: volume(), rooms: { n1: { freeBytes: 1n } } },
      'NoRoomToGrow',
    ],
    [
      'that would show old data',
      {
        volume: claimVolume(claim({ volumeMode: 'Block' }), options(lvm), 'n1', undefined),
        storageClass: lvm,
      },
      'GrowthShowsOldData',
    ],
  ])('names an expansion %s', (_, parts, code) => {
    const grown = claim(
      { volumeName: `pvc-${UID}`, resources: { requests: { storage: '3Gi' } } },
      { status: { phase: 'Bound', capacity: { storage: '2Gi' } } },
    );
    expect(codeOf({ claim: grown, ...parts })).toBe(code);
  });

  test('has no paths of the node in its parameters', () => {
    const { action } = decideClaim(
      input({
        volume: failedWith(reason('StepFailed', { step: 's', exit: 1, output: 'no /srv/a' })),
      }),
      NOW,
    );
    expect(action).toMatchObject({
      event: { detail: { parameters: { step: 's', exit: '1', output: 'no …' } } },
    });
    const short = decideClaim(input({ rooms: { n1: { freeBytes: 1n } } }), NOW).action;
    expect(short).toMatchObject({ event: { detail: { parameters: { place: '…', free: '1' } } } });
  });

  test('changes with the reasons of other nodes, but not with figures', () => {
    const said = (parts: Parts) => {
      const { action } = decideClaim(input({ nodes: on('n1', 'n2'), ...parts }), NOW);
      return action?.do === 'tell' ? saidBy(action.event) : undefined;
    };
    const n1 = { freeBytes: 1n };
    const first = said({ rooms: { n1, n2: { freeBytes: 2n } } });
    expect(said({ rooms: { n1: { freeBytes: 0n }, n2: { freeBytes: 3n } } })).toBe(first);
    expect(said({ rooms: { n1, n2: { unknown: 'x' } } })).not.toBe(first);
  });
});
