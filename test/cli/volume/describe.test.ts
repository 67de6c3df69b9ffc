import { expect, test } from '@jest/globals';
import type {
  AnyEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { attachmentOn, podNamed } from '../../support/cluster-objects.ts';
import { stowage } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { pvOf, volumeNamed } from '../../support/volumes.ts';

const base = volumeNamed('data1', {
  phase: 'Available',
  deviceName: 'loop3',
  devicePath: '/dev/disk/by-uuid/uid-data1',
  capacity: '1Gi',
  job: 'PrepareVolume/DONE',
  attempt: 1,
  observedGeneration: 1,
  prepared: { node: 'n1', paths: ['/srv/uid-data1'], identity: 'ext4 uid-data1' },
  attachments: [
    attachmentOn('n1', { pods: ['db/app-0'], device: 'loop3', since: '2029-12-31T23:30:00Z' }),
  ],
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Available',
      message: '',
      lastTransitionTime: '2029-12-31T23:00:00Z',
      lastUpdateTime: '2029-12-31T23:59:00Z',
    },
  ],
});
const data1 = {
  ...base,
  metadata: {
    ...base.metadata,
    generation: 2,
    labels: { app: 'db', tier: 'fast' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    finalizers: ['storage.metalk8s.scality.com/volume-protection'],
  },
  spec: { ...base.spec, onDelete: 'Retain' as const },
};
const bound = pvOf(data1, 'Bound');
const pv: PersistentVolume = {
  ...bound,
  metadata: { ...bound.metadata, uid: 'uid-pv' },
  spec: {
    ...bound.spec,
    storageClassName: 'fast',
    persistentVolumeReclaimPolicy: 'Retain',
    claimRef: { namespace: 'db', name: 'data-0', uid: 'uid-claim' },
  },
};
const claim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data-0', namespace: 'db', uid: 'uid-claim' },
  spec: {},
  status: { phase: 'Bound' },
};
const pod = (name: string, claimName: string): Pod => ({
  ...podNamed(name, 'db'),
  metadata: { name, namespace: 'db', uid: `uid-${name}` },
  spec: {
    nodeName: 'n1',
    volumes: [{ name: 'config' }, { name: 'v', persistentVolumeClaim: { claimName } }],
  },
  status: { phase: 'Running' },
});
const event = (name: string, about: KubeObject, fields: Partial<AnyEvent>): AnyEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: { kind: about.kind, name: about.metadata.name, uid: about.metadata.uid ?? '' },
  type: 'Normal',
  source: { component: 'stowage' },
  ...fields,
});
const older = { ...data1, metadata: { ...data1.metadata, uid: 'uid-of-an-older-one' } };
const objects: Record<string, KubeObject> = {
  'volumes/data1': data1,
  'persistentvolumes/data1': pv,
  'persistentvolumeclaims/data-0': claim,
  'pods/db-0': pod('db-0', 'data-0'),
  'pods/other': pod('other', 'data-1'),
  'events/1': event('1', data1, {
    reason: 'StateTransition',
    message: 'Volume data1 changed from Pending to Available',
    count: 3,
    firstTimestamp: '2029-12-31T23:00:00Z',
    lastTimestamp: '2029-12-31T23:55:00Z',
  }),
  'events/2': event('2', pv, {
    type: 'Warning',
    reason: 'VolumeFailedDelete',
    message: 'no deleter',
    // Fields as newer event reporters write them.
    count: null,
    firstTimestamp: null,
    lastTimestamp: null,
    source: { component: '' },
    reportingComponent: 'persistentvolume-controller',
    eventTime: '2029-12-31T23:30:00Z',
  }),
  'events/3': event('3', older, {
    reason: 'Old',
    message: 'of another',
    lastTimestamp: '2029-12-31T23:00:00Z',
  }),
};

test('describe volume prints all sections of a Volume', async () => {
  const { code, out, err } = await stowage(['describe', 'volume', 'data1'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Name:           data1
UID:            uid-data1
Labels:         app=db
                tier=fast
Annotations:    <none>
Created:        2029-12-31T19:00:00Z (5h ago)
Finalizers:     storage.metalk8s.scality.com/volume-protection
Node:           n1
Type:           sparse file
Size:           1Gi
Storage class:  fast
Mode:           Filesystem
On delete:      Retain
Status:
  Phase:                Available
  Device:               /dev/loop3
  Path:                 /dev/disk/by-uuid/uid-data1
  Capacity:             1Gi
  Job:                  PrepareVolume/DONE
  Attempt:              1
  Observed generation:  1 of 2
  Prepared:
    Node:      n1
    Paths:     /srv/uid-data1
    Identity:  ext4 uid-data1
Conditions:
  TYPE    STATUS   REASON      SINCE   UPDATED   MESSAGE
  Ready   True     Available   60m     60s       <none>
Attachments:
  NODE   STATE      PODS       SINCE   SAFE-TO-MOUNT   SAFE-TO-DETACH   READ-ONLY   DEVICE   MESSAGE
  n1     Attached   db/app-0   30m     yes             no               no          loop3    <none>
PersistentVolume:
  Name:            data1
  Phase:           Bound
  Storage class:   fast
  Capacity:        1Gi
  Reclaim policy:  Retain
  Finalizers:      <none>
  Claim:           db/data-0
Claim:
  Name:     db/data-0
  Phase:    Bound
  Used by:  pod db-0 (Running) on node n1
Events:
  TYPE      REASON               AGE                FROM                          OBJECT             MESSAGE
  Warning   VolumeFailedDelete   30m                persistentvolume-controller   PersistentVolume   no deleter
  Normal    StateTransition      5m (x3 over 60m)   stowage                       Volume             Volume data1 changed from Pending to Available
`,
  );
});

test('describe volume prints <none> for what a new Volume lacks', async () => {
  const { code, out } = await stowage(['describe', 'vol', 'a'], {
    objects: {
      'volumes/a': {
        ...volumeNamed('a'),
        spec: { nodeName: 'n1', storageClassName: 'fast' },
      } as KubeObject,
    },
  });
  expect(code).toBe(0);
  expect(out).toMatch(/^Type: +<none>$/m);
  for (const section of ['Conditions', 'Attachments', 'PersistentVolume', 'Claim', 'Events']) {
    expect(out).toMatch(new RegExp(`^${section}: +<none>$`, 'm'));
  }
  expect(out).toMatch(/^ {2}Phase: +Unknown$/m);
});

test.each([
  [
    { rawBlockDevice: { devicePath: '/dev/sdb' }, overwrite: 'xfs' },
    ['Type: raw device', 'Device: /dev/sdb', 'Overwrite: xfs'],
  ],
  [
    {
      sparseLoopDevice: { size: '1Gi', directory: '/srv' },
      attachPolicy: 'OnDemand',
      attachableNodes: ['n1', 'n2'],
    },
    ['Attach policy: OnDemand', 'Attachable nodes: n1, n2'],
  ],
  [
    { lvmLogicalVolume: { vgName: 'vg0', size: '2Gi' }, mode: 'Block' },
    ['Type: LVM volume', 'Size: 2Gi', 'Volume group: vg0', 'Mode: Block'],
  ],
  [
    {
      sparseLoopDevice: { size: '1Gi', directory: '/srv' },
      rawBlockDevice: { devicePath: '/dev/sdb' },
    },
    ['Type: sparse file', 'Directory: /srv', 'Type: raw device'],
  ],
])('describe volume prints the spec %j', async (spec, lines) => {
  const volume = {
    ...volumeNamed('a'),
    spec: { nodeName: 'n1', storageClassName: 'fast', ...spec },
  };
  const { out } = await stowage(['describe', 'vol', 'a'], { objects: { 'volumes/a': volume } });
  const printed = out.split('\n').map((line) => line.replace(/: +/, ': '));
  expect(printed).toEqual(expect.arrayContaining(lines));
});

test('describe volume ignores a later claim of the same name', async () => {
  const later = { ...claim, metadata: { ...claim.metadata, uid: 'uid-later' } };
  const { out } = await stowage(['describe', 'vol', 'data1'], {
    objects: { ...objects, 'persistentvolumeclaims/data-0': later },
  });
  expect(out).toMatch(/^Claim: +<none>$/m);
  expect(out).not.toContain('db-0');
});

test('describe volume lists only the pod that owns an ephemeral claim', async () => {
  const volumes = [{ name: 'scratch', ephemeral: {} }];
  const maker = { ...pod('maker', ''), spec: { nodeName: 'n1', volumes } };
  const other = { ...pod('other', ''), spec: { nodeName: 'n1', volumes } };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'maker', uid: 'uid-maker' }];
  const { out } = await stowage(['describe', 'vol', 'data1'], {
    objects: {
      ...objects,
      'persistentvolumeclaims/data-0': {
        ...claim,
        metadata: { ...claim.metadata, ownerReferences },
      } as KubeObject,
      'pods/db-0': maker,
      'pods/other': other,
    },
  });
  expect(out.match(/pod \w+/g)).toEqual(['pod maker']);
});

test('describe volume marks a foreign PersistentVolume of its name', async () => {
  const others = { ...pv, metadata: { ...pv.metadata, ownerReferences: [] } };
  const { out } = await stowage(['describe', 'vol', 'data1'], {
    objects: { ...objects, 'persistentvolumes/data1': others },
  });
  expect(out).toContain('data1 (not of this Volume)');
  expect(out).toMatch(/^Claim: +<none>$/m);
});

test.each([
  ['get persistentvolumes/data1', 'PersistentVolume'],
  ['get persistentvolumeclaims/data-0', 'Claim'],
  ['list pods/*', ' {2}Used by'],
  ['list events/involvedObject.name=data1', 'Events'],
])('describe volume notes in its place that %s is forbidden', async (request, label) => {
  const { code, out, err } = await stowage(['describe', 'vol', 'data1'], {
    objects,
    failures: { [request]: refusal(403, `${request} is forbidden`) },
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n').filter((line) => line.includes('not shown'))).toEqual([
    expect.stringMatching(
      new RegExp(`^${label}: +not shown: ${request.replace('*', '\\*')} is forbidden$`),
    ),
  ]);
});

test('describe volume reports a missing Volume, and describes the others', async () => {
  const { code, out, err } = await stowage(['describe', 'vol', 'x', 'data1', 'a'], {
    objects: { ...objects, 'volumes/a': volumeNamed('a') },
  });
  expect(code).toBe(7);
  expect(out.match(/^(Name: .*|)$/gm)?.map((line) => line.split(/ +/)[1])).toEqual([
    'data1',
    undefined,
    'a',
    undefined,
  ]);
  expect(err).toBe('error: volumes/x not found\nerror: 1 of 3 failed\n');
});

test('describe volume prints no control characters and no forged lines', async () => {
  const evil = '\u001b]0;owned\u0007\u009b2J\nName: forged';
  /**
   * Returns the object with a hostile suffix on all strings, except for names that are looked up.
   */
  const hostile = <T>(value: T, key = ''): T => {
    if (typeof value === 'string') {
      const kept = [
        'name',
        'namespace',
        'uid',
        'kind',
        'claimName',
        'apiVersion',
        'creationTimestamp',
        'phase',
        'storage',
      ];
      return (kept.includes(key) ? value : `${value}${evil}`) as T;
    }
    if (Array.isArray(value)) return value.map((item) => hostile(item, key)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, hostile(item, name)]),
    ) as T;
  };
  const { code, out } = await stowage(['describe', 'vol', 'data1'], { objects: hostile(objects) });
  expect(code).toBe(0);
  expect(out.split('owned').length).toBeGreaterThan(20);
  expectPrintable(out);
  expect(out).not.toMatch(/^ {0,4}Name: forged/m);
});
