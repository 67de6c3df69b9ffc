import { describe, expect, test } from '@jest/globals';
import type { ClaimCondition, KubeNode } from '../../../src/api/core.ts';
import { explain, type ReasonCode, reason } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { eventKey } from '../../../src/controllers/lib/event-key.ts';
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
      'is ignored if its class has another provisioner',
      { storageClass: storageClass({ provisioner: 'x.example.org' }) },
      'rest',
    ],
    ['waits for its class', { storageClass: storageClass(), options: undefined }, 'rest'],
    ['gets no Volume while it is being deleted', { claim: claim({}, { deleted: true }) }, 'rest'],
    ['gets no Volume if it is Lost', { claim: claim({}, { status: { phase: 'Lost' } }) }, 'rest'],
    [
      'gets no Volume if it names a PersistentVolume',
      { claim: claim({ volumeName: 'pv1' }) },
      'rest',
    ],
    [
      'is refused if the class sets an unknown file system',
      { storageClass: storageClass({ parameters: { fsType: 'btrfs' } }) },
      'Warning ProvisioningFailed: storage class dynamic: parameter fsType is "btrfs", but must be ext4 or xfs',
    ],
    [
      'is refused if the class sets invalid mkfsOptions',
      { storageClass: storageClass({ parameters: { mkfsOptions: '-q' } }) },
      'Warning ProvisioningFailed: storage class dynamic: parameter mkfsOptions: "-q" is not a JSON list of strings, such as ["-m", "0"]',
    ],
    [
      'gets no file system in mode Block',
      {
        claim: claim({ volumeMode: 'Block' }),
        storageClass: storageClass({ parameters: { fsType: 'x' } }),
      },
      `create pvc-${UID} on n1`,
    ],
    [
      'is refused if the class has an unknown parameter',
      { storageClass: storageClass({ parameters: { size: '1' } }) },
      'Warning ProvisioningFailed: storage class dynamic: unknown parameter "size". Known parameters: type, directory, requireMount, vgName, thinPool, fsType, csi.storage.k8s.io/fstype, mkfsOptions, overcommit, overwriteFreeExtents, onDelete, attachPolicy',
    ],
    [
      'is refused for ReadWriteMany',
      { claim: claim({ accessModes: ['ReadWriteMany'] }) },
      'Warning ProvisioningFailed: access mode ReadWriteMany is not supported: writes from two nodes would corrupt the device. Request ReadWriteOnce',
    ],
    [
      'with a selector is refused',
      { claim: claim({ selector: {} }) },
      'Warning ProvisioningFailed: the claim has a selector, which matches existing volumes only: none is provisioned for it. Remove the selector, or use a static storage class',
    ],
    ['queries the capacity first', { rooms: {} }, 'observe-room n1'],
    [
      'queries the capacity of all nodes at once',
      { nodes: [node('n1'), node('n2'), node('n3')], rooms: { n2: { freeBytes: 9n * GIB } } },
      'observe-room n1 n3',
    ],
    ['gets a Volume on a node with capacity', {}, `create pvc-${UID} on n1`],
    ['gets a Volume of exactly the available capacity', { rooms: n1 }, `create pvc-${UID} on n1`],
    [
      'gets a Volume on the node with most capacity',
      { nodes: [node('n1'), node('n2')], rooms: { ...n1, n2: { freeBytes: 3n * GIB } } },
      `create pvc-${UID} on n2`,
    ],
    [
      'gets no Volume on a NotReady or paused node',
      {
        nodes: [
          node('n1', 'False'),
          node('n2', 'True', { annotations: { 'stowage.dev/paused': 'true' } }),
        ],
      },
      'Warning ProvisioningFailed: node n1 is not Ready; node n2 is paused',
    ],
    [
      'gets no Volume on a node that its class excludes',
      {
        storageClass: storageClass({
          allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
        }),
        nodes: [node('n1', 'True', { labels: { zone: 'b' } })],
      },
      'Warning ProvisioningFailed: allowedTopologies of the storage class exclude node n1',
    ],
    [
      'gets a Volume on a node whose hostname label its class allows',
      {
        storageClass: storageClass({
          allowedTopologies: [
            { matchLabelExpressions: [{ key: 'kubernetes.io/hostname', values: ['short'] }] },
          ],
        }),
        nodes: [node('n1', 'True', { labels: { 'kubernetes.io/hostname': 'short' } })],
      },
      `create pvc-${UID} on n1`,
    ],
    [
      'reports how much capacity is missing',
      { rooms: { n1: { freeBytes: GIB } } },
      'Warning ProvisioningFailed: node n1 has 1Gi available in the directory of its storage class, and the claim needs 2Gi',
    ],
    [
      'reports missing capacity, including the download of a qcow2',
      {
        claim: claim({ dataSourceRef: { apiGroup: 'stowage.dev', kind: 'Image', name: 'i' } }),
        source: QCOW2,
        rooms: { n1: { freeBytes: 4n * GIB } },
      },
      'Warning ProvisioningFailed: node n1 has 4Gi available in the directory of its storage class, and the claim needs 4144Mi, including the download of its qcow2',
    ],
    [
      'reports unknown capacity',
      { rooms: { n1: { unknown: 'it is away' } } },
      'Warning ProvisioningFailed: available capacity of node n1 is unknown: it is away',
    ],
    [
      'reports that the directory is not mounted',
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
    const told = eventKey({ type: 'Warning', reason: 'ProvisioningFailed', message: '', detail });
    expect(outcome({ nodes: [], lastEventKey: told })).toBe('again in 30000');
  });
});

describe('a claim that waits for its first pod', () => {
  test.each<Row>([
    ['gets no Volume before a node is selected', {}, 'rest'],
    ['gets its Volume on the selected node', { claim: selected() }, `create pvc-${UID} on n1`],
    ['gets no Volume on a node of another daemon', { claim: claim({}, { node: 'n9' }) }, 'rest'],
    [
      'is rescheduled from a node that is gone',
      { claim: claim({}, { node: 'n9' }), isGone: () => true },
      `reschedule from n9: node n9 does not exist. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    ['gets no Volume while no pod uses it', { claim: selected(), consumers: [] }, 'rest'],
    [
      'gets its Volume on the node of its pod',
      { claim: selected(), nodes: [CONTROL_PLANE], consumers: [pod({ nodeName: 'n1' })] },
      `create pvc-${UID} on n1`,
    ],
    [
      'is rescheduled if its pods run on other nodes',
      { claim: selected(), consumers: [pod({ nodeName: 'n2' })] },
      `reschedule from n1: the pods of the claim run on nodes other than n1. ${AGAIN}`,
    ],
    [
      'is rescheduled from a node with a taint that no pod tolerates',
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
        `gets its Volume if a pod tolerates the taint by ${JSON.stringify(toleration)}`,
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
        `is rescheduled if its pod only has toleration ${JSON.stringify(toleration)}`,
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
      'gets its Volume despite taints that do not repel pods, or of readiness',
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
      'resolves its data source before the node is checked',
      {
        claim: selected({ dataSourceRef: { apiGroup: 'x.example', kind: 'Y', name: 'z' } }),
        nodes: [node('n1', 'False')],
      },
      'resolve-source',
    ],
    [
      'is rescheduled from a node that is not Ready',
      { claim: selected(), nodes: [node('n1', 'False')] },
      `reschedule from n1: node n1 is not Ready. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'is rescheduled from a node without capacity',
      { claim: selected(), rooms: { n1: { freeBytes: 5n } } },
      `reschedule from n1: node n1 has 5 bytes available in the directory of its storage class, and the claim needs 2Gi. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'is rescheduled from a node that refuses to be observed, in whole sentences',
      { claim: selected(), rooms: { n1: { unknown: 'sudo refuses. Allow it.' } } },
      `reschedule from n1: ${explain('RoomUnknown', { node: 'n1' }).message}: sudo refuses. Allow it. ${AGAIN}`,
    ],
    [
      'is rescheduled from a node without its data',
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
    ['resolves the source first', from, 'resolve-source'],
    [
      'reports why it waits',
      { ...from, source: { is: 'waits', message: 'no grant', on: [] } },
      'Warning ProvisioningFailed: no grant',
    ],
    [
      'is left to another populator',
      { ...from, source: { is: 'other', message: 'x', on: [] } },
      'Normal Provisioning: x',
    ],
    [
      'is provisioned on the node of its data, whatever capacity others have',
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
    ['waits for the Volume', { volume: volume() }, 'rest'],
    [
      'reports why the Volume could not be provisioned',
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
      'reports a failure without commands and paths of the node',
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
      'reports that the Volume waits for its source',
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
      'reports that the Volume waits for its node',
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
      'reports a Volume of another owner',
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
    ['has an overwrite consent', refused({}, { overwrite: 'xfs:x' }), undefined],
  ])('counts as a failed attempt only if it is refused: a Volume that %s', (_, volume, counts) => {
    const parts = { claim: selected(), storageClass: thick, volume };
    expect(decideClaim(input(parts), NOW).failed).toBe(counts);
  });

  test.each<Row>([
    [
      'deletes the Volume and is rescheduled',
      { claim: selected(), storageClass: thick, volume: refused() },
      AGAIN,
    ],
    [
      'deletes only the Volume if another node was selected',
      { claim: claim({}, { node: 'n2' }), storageClass: thick, volume: refused() },
      ALONE,
    ],
    [
      'deletes only the Volume if its class binds at once',
      { storageClass: { ...thick, volumeBindingMode: 'Immediate' }, volume: refused() },
      ALONE,
    ],
    [
      'deletes only the Volume if the class consents by now',
      { claim: selected(), storageClass: consenting, volume: refused() },
      ALONE,
    ],
    [
      'waits until the Volume is gone',
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
      'keeps a Volume with an overwrite consent',
      { claim: selected(), storageClass: thick, volume: refused({}, { overwrite: 'xfs:x' }) },
      'rest',
    ],
    [
      'keeps a Volume that was provisioned',
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
      'keeps a Volume that has a PersistentVolume',
      {
        claim: selected(),
        storageClass: thick,
        volume: refused(),
        pv: {} as NonNullable<Parts['pv']>,
      },
      'rest',
    ],
    [
      'is rescheduled from that node for the refused size',
      {
        claim: selected(),
        storageClass: thick,
        rooms: { n1: { freeBytes: 9n * GIB, refusedBytes: 2n * GIB } },
      },
      `reschedule from n1: ${WHY}. The scheduler must choose another node for the claim (Volume pvc-${UID} was not created)`,
    ],
    [
      'gets a smaller Volume on that node',
      {
        claim: selected(),
        storageClass: thick,
        rooms: { n1: { freeBytes: 9n * GIB, refusedBytes: 3n * GIB } },
      },
      `create pvc-${UID} on n1`,
    ],
    [
      'gets a Volume on another node if its class binds at once',
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
    ['is provisioned without Wipe', { claim: block, storageClass: of({}) }, made],
    ['is provisioned with Wipe', { claim: block, storageClass: of({ onDelete: 'Wipe' }) }, made],
    ['is provisioned in a thin pool', { claim: block, storageClass: of({ thinPool: 'p' }) }, made],
    ['is provisioned like mode Filesystem', { storageClass: of({}) }, made],
    ['is provisioned like mode Block of files', { claim: block }, made],
    ['is not expanded', grown('Block', {}), `Warning VolumeResizeFailed: ${shown}`],
    [
      'is not expanded with Wipe',
      grown('Block', { onDelete: 'Wipe' }),
      `Warning VolumeResizeFailed: ${shown}`,
    ],
    ['is expanded in a thin pool', grown('Block', { thinPool: 'p' }), 'expand to 3Gi'],
    ['is not expanded, unlike mode Filesystem', grown('Filesystem', {}), 'expand to 3Gi'],
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
  const modified = (uid: string) => {
    const it = bound('2Gi', '2Gi');
    const spec = { ...it.spec, volumeAttributesClassName: 'gold' };
    return { ...it, metadata: { ...it.metadata, uid }, spec };
  };
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
    ['rests at its requested size', { claim: bound('2Gi', '2Gi'), volume: volume() }, 'rest'],
    [
      'is ignored if its volume was provisioned by hand',
      { claim: bound('3Gi', '2Gi'), volume: undefined },
      'rest',
    ],
    [
      'queries the capacity before an expansion',
      { claim: bound('3Gi', '2Gi'), volume: volume(), rooms: {} },
      'observe-room n1',
    ],
    [
      'gets an event for a VolumeAttributesClass that was added',
      { claim: modified(UID), volume: volume() },
      'Warning VolumeModifyFailed: the claim names VolumeAttributesClass gold, and only volumes of CSI drivers have one. Create the claim again without volumeAttributesClassName',
    ],
    [
      'gets no event for the VolumeAttributesClass of a volume of others',
      { claim: modified('another'), volume: volume() },
      'rest',
    ],
    ['expands its Volume', { claim: bound('3Gi', '2Gi'), volume: volume() }, 'expand to 3Gi'],
    [
      'expands a Volume that was populated for it',
      { claim: bound('3Gi', '2Gi'), volume: filled, pv: givenTo(UID) },
      'expand to 3Gi',
    ],
    [
      'ignores a Volume that was populated for another claim',
      { claim: bound('3Gi', '2Gi'), volume: filled, pv: givenTo('another') },
      'rest',
    ],
    [
      'reports an expansion without enough capacity',
      { claim: bound('3Gi', '2Gi'), volume: volume(), rooms: { n1: { freeBytes: 5n } } },
      'Warning VolumeResizeFailed: node n1 has 5 bytes available in the directory of its storage class, and the expansion needs 1Gi more',
    ],
    [
      'gets condition Resizing during an expansion',
      { claim: bound('3Gi', '2Gi'), volume: larger, pv: pv('2Gi') },
      `status {"conditions":[{"type":"Resizing","status":"True","message":"Volume pvc-${UID} is being expanded to 3Gi","lastTransitionTime":"2026-03-01T12:00:00Z"}]}`,
    ],
    [
      'gets condition Resizing only once',
      { claim: bound('3Gi', '2Gi', [told]), volume: larger, pv: pv('2Gi') },
      'rest',
    ],
    [
      'gets the failure of an expansion in condition Resizing',
      { claim: bound('3Gi', '2Gi', [told]), volume: stuck, pv: pv('2Gi') },
      'status {"conditions":[{"type":"Resizing","status":"True","message":"expanding to 3Gi: attempt 1: no","lastTransitionTime":"2026-03-01T11:00:00Z"}]}',
    ],
    [
      'gets the new capacity after an expansion',
      { claim: bound('3Gi', '2Gi', [resizing]), volume: larger, pv: pv('3221225472') },
      'status {"capacity":{"storage":"3221225472"},"conditions":[]}',
    ],
    [
      'loses condition Resizing if the kubelet updated the capacity',
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
  const waitingFor = (detail: ReturnType<typeof reason>) =>
    volume({
      status: {
        phase: 'Pending',
        conditions: [{ type: 'Ready', status: 'Unknown', message: 'x', detail }],
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
      'a VolumeAttributesClass',
      { claim: claim({ volumeAttributesClassName: 'gold' }) },
      'VolumeAttributesClassRefused',
    ],
    [
      'a VolumeAttributesClass, also once it has a Volume',
      { claim: claim({ volumeAttributesClassName: 'gold' }), volume: volume() },
      'VolumeAttributesClassRefused',
    ],
    [
      "another's Volume",
      { volume: { ...volume(), spec: { ...volume().spec, template: {} } } },
      'VolumeOfAnotherClaim',
    ],
    ['its node', { volume: failedWith(undefined, { reason: 'NodeUnclear' }) }, 'NodeNotAnswering'],
    [
      'the label of its node',
      { volume: waitingFor(reason('HostnameLabelMissing', { node: 'n1' })) },
      'HostnameLabelMissing',
    ],
    [
      'the label of another node',
      {
        volume: waitingFor(reason('HostnameLabelShared', { node: 'n1', other: 'n2', label: 'h' })),
      },
      'HostnameLabelShared',
    ],
    ['its Volume', { volume: failedWith(reason('JobDied', {})) }, 'JobDied'],
    ['a Volume of an earlier daemon', { volume: failedWith() }, undefined],
    ['no node', { nodes: [] }, 'NoNode'],
    ['a pause', { nodes: [node('n1', 'True', PAUSED)] }, 'NodePaused'],
    ['a node that is not Ready', { nodes: [node('n1', 'False')] }, 'NodeNotReady'],
    ['a topology', { storageClass: off }, 'TopologyNotAllowed'],
    ['missing capacity', { rooms: { n1: { freeBytes: 1n } } }, 'NoRoom'],
    ['a directory', { rooms: { n1: { refused: 'x' } } }, 'NodeDirectoryUnusable'],
    ['unknown capacity', { rooms: { n1: { unknown: 'x' } } }, 'RoomUnknown'],
    ['free extents', { storageClass: lvm, rooms: { n1: refusedAt } }, 'ConsentMissing'],
    [
      'several nodes: the most actionable cause',
      {
        nodes: [node('n1', 'False'), ...on('n2', 'n3')],
        rooms: { n2: { unknown: 'x' }, n3: { freeBytes: 1n } },
      },
      'NoRoom',
    ],
    ['its data source', { ...FROM, source: WAITS }, 'SourceItself'],
    ['another populator', { ...FROM, source: { ...WAITS, is: 'other' } }, 'SourceItself'],
  ])('names the cause: %s', (_, parts, code) => {
    expect(codeOf(parts)).toBe(code);
  });

  test.each<[string, Parts, ReasonCode]>([
    ['gone', { claim: claim({}, { node: 'n9' }), isGone: () => true }, 'SelectedNodeMissing'],
    ['tainted', { nodes: [CONTROL_PLANE] }, 'TaintNotTolerated'],
    ['not the node of its pods', { consumers: [pod({ nodeName: 'n2' })] }, 'PodsElsewhere'],
    [
      'not the node of its data',
      { claim: selected({ dataSource: snapshot }), source: { ...ready, nodes: ['n2'] } },
      'SourceElsewhere',
    ],
  ])('names a node that is %s', (_, parts, code) => {
    expect(codeOf({ claim: selected(), storageClass: waiting, ...parts })).toBe(code);
  });

  test.each<[string, Parts, ReasonCode]>([
    [
      'without enough capacity',
      { volume: volume(), rooms: { n1: { freeBytes: 1n } } },
      'NoRoomToGrow',
    ],
    [
      'into extents with old data',
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
    const place = 'the directory of its storage class';
    expect(short).toMatchObject({
      event: { detail: { parameters: { place, free: '1 bytes' } } },
    });
  });

  test('changes with the reasons of other nodes, but not with figures', () => {
    const said = (parts: Parts) => {
      const { action } = decideClaim(input({ nodes: on('n1', 'n2'), ...parts }), NOW);
      return action?.do === 'emit-event' ? eventKey(action.event) : undefined;
    };
    const n1 = { freeBytes: 1n };
    const first = said({ rooms: { n1, n2: { freeBytes: 2n } } });
    expect(said({ rooms: { n1: { freeBytes: 0n }, n2: { freeBytes: 3n } } })).toBe(first);
    expect(said({ rooms: { n1, n2: { unknown: 'x' } } })).not.toBe(first);
  });
});
