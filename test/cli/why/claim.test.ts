import { describe, expect, test } from '@jest/globals';
import type { AnyEvent, KubeNode, Pod, StorageClass } from '../../../src/api/core.ts';
import { type Explanation, explain, type ReasonCode, reason } from '../../../src/api/reasons.ts';
import { diagnoseClaim, ofPod } from '../../../src/cli/why/claim/diagnose.ts';
import type { ClaimFacts } from '../../../src/cli/why/claim/facts.ts';
import { diagnose } from '../../../src/cli/why/diagnose.ts';
import type { Fix } from '../../../src/cli/why/types.ts';
import { NOW, podNamed } from '../../support/cluster-objects.ts';
import { expectByCodes } from '../../support/scramble.ts';
import { boundClaim, claimNamed } from '../../support/snapshots.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';
import { ABSENT, eventOf, FAST, knownOf, WAITS } from './claim-known.ts';
import { pv, terminating } from './volume-diagnosis.ts';

const claim = claimNamed('foo-testing');
const known = (parts: Partial<ClaimFacts> = {}) => knownOf(claim, parts);
const FORGED = { group: 'vg0', content: 'xfs', places: 'x', overwrite: 'xfs' };
const grantMissing = reason('SnapshotGrantMissing', {
  ...{ source: 'prod/a', claim: 'test/b', namespace: 'prod', own: 'test', use: 'claims' },
});
const metadata = (more: object) => ({
  claim: { ...claim, metadata: { ...claim.metadata, ...more } },
});
const spec = (more: object) => ({ claim: { ...claim, spec: { ...claim.spec, ...more } } });
const pod = (name: string, nodeName?: string) =>
  podNamed(name, 'test', nodeName === undefined ? {} : { nodeName });
/** Returns an event of the class. */
const room = (code: 'RoomKnown' | 'RoomUnknown', node: string) =>
  eventOf(code, {
    message: `node ${node}: sudo refused it`,
    detail: reason(code, { node, place: 'x' }),
  });
const warning = (told: string | Explanation, type?: 'Normal') =>
  eventOf('ProvisioningFailed', typeof told === 'string' ? { message: told } : told, type);
const obstacle = (code: ReasonCode, refusal: string, on: object[] = [], more: object = {}) =>
  ({ reason: { code, parameters: {} }, refusal, hint: '', on, ...more }) as never;
const made = volumeNamed('pvc-uid', {
  phase: 'Failed',
  ...ready('False', 'CreationError', 'it broke'),
});
const aboutMade = {
  volume: made,
  pv: ABSENT,
  claim: ABSENT,
  pods: ABSENT,
  storageClass: { found: FAST },
  node: ABSENT,
};
const SNAPSHOT = { kind: 'VolumeSnapshot', namespace: 'prod', name: 'foo-backup' };
const GRANTS = { kind: 'ReferenceGrant', namespace: 'prod' };
const LINK = { kind: 'VolumeSnapshotLink', namespace: 'test', name: 'foo-link' };
const REFERENT = {
  referent: { kind: 'VolumeSnapshot', group: '', namespace: 'prod', name: 'foo-backup' },
};

const CARRIED = explain('ConsentMissing', { place: 'volume group vg0', node: 'n1' });
const THICK = {
  ...WAITS,
  metadata: { name: WAITS.metadata.name, uid: 'u', resourceVersion: '7', labels: { a: "it's" } },
  parameters: { type: 'lvm', vgName: 'vg0' },
};
const { metadata: _, parameters, ...rest } = THICK;
const CONSENT = `printf '%s' '${JSON.stringify({
  ...rest,
  metadata: { name: 'fast', labels: { a: "it's" } },
  parameters: { ...parameters, overwriteFreeExtents: 'true' },
}).replaceAll("'", "'\\''")}' | kubectl replace --force -f -`;

test.each<[string, Partial<ClaimFacts>, string, string | undefined, string]>([
  [
    'deleted and used',
    { ...metadata({ deletionTimestamp: '2029-12-31T23:00:00Z' }), pods: { found: [pod('p')] } },
    'it is being deleted, and these pods use it: p',
    'kubectl delete pod -n test p',
    'when the pods are gone',
  ],
  [
    'deleted while a snapshot is taken',
    metadata({
      deletionTimestamp: '2029-12-31T23:00:00Z',
      finalizers: ['snapshot.storage.kubernetes.io/pvc-as-source-protection'],
    }),
    'is the source of an unfinished snapshot or claim',
    'stowage get snapshots -n test',
    'when that snapshot or claim is ready',
  ],
  [
    'deleted, with finalizers of others',
    metadata({ deletionTimestamp: '2029-12-31T23:00:00Z', finalizers: ['example.com/x'] }),
    'it is being deleted, and waits for the finalizers example.com/x',
    'kubectl get pvc foo-testing -n test -o yaml',
    'when they are removed',
  ],
  [
    'deleted, with a finalizer of Kubernetes',
    metadata({
      deletionTimestamp: '2029-12-31T23:00:00Z',
      finalizers: ['kubernetes.io/pvc-protection'],
    }),
    'it is being deleted, and waits for the finalizers kubernetes.io/pvc-protection',
    'kubectl describe pvc foo-testing -n test',
    'when they are removed',
  ],
  [
    'deleted, with a finalizer of Stowage that no fix removes',
    metadata({
      deletionTimestamp: '2029-12-31T23:00:00Z',
      finalizers: ['kubernetes.io/pvc-protection', 'stowage.dev/populate-target-protection'],
    }),
    'waits for the finalizers kubernetes.io/pvc-protection, stowage.dev/populate-target-protection',
    'stowage watch',
    'when they are removed',
  ],
  [
    'lost',
    { claim: { ...claim, spec: { ...claim.spec, volumeName: 'v' }, status: { phase: 'Lost' } } },
    'its PersistentVolume v is gone',
    'kubectl describe pvc foo-testing -n test',
    'never: a claim is bound once',
  ],
  [
    'lost, while its PersistentVolume exists',
    {
      claim: { ...claim, spec: { ...claim.spec, volumeName: 'v' }, status: { phase: 'Lost' } },
      pv: { found: pvOf(volumeNamed('v'), 'Released') },
    },
    'its PersistentVolume v is no longer bound to it',
    'kubectl describe pvc foo-testing -n test',
    'never: a claim is bound once',
  ],
  [
    'no class',
    { ...spec({ storageClassName: undefined }), storageClass: ABSENT },
    'it names no storage class, and there is no default one',
    'stowage create storageclass NAME --dynamic --default',
    'when there is a default class',
  ],
  [
    'a missing class',
    { storageClass: ABSENT },
    'its storage class fast does not exist',
    'stowage create storageclass fast --dynamic',
    'when that class is created',
  ],
  [
    'a class of another provisioner',
    { storageClass: { found: { ...FAST, provisioner: 'ebs.csi.aws.com' } } },
    'provisioned by ebs.csi.aws.com, not by Stowage',
    'kubectl describe pvc foo-testing -n test',
    'when ebs.csi.aws.com provisions one',
  ],
  [
    'a static class without a free volume',
    {
      storageClass: { found: classNamed('fast') },
      supply: { pvs: { found: [] }, volumes: { found: [] } },
    },
    'there is no PersistentVolume of storage class fast',
    'stowage create volume NAME --node NODE --type sparse --size 1Gi --storage-class fast',
    'when a PersistentVolume fits',
  ],
  [
    'a static class and a source',
    {
      ...spec({ dataSourceRef: { apiGroup: 'x', kind: 'VolumeSnapshot', name: 'a' } }),
      storageClass: { found: classNamed('fast') },
    },
    'its data source is a VolumeSnapshot, but its storage class is for volumes created by hand',
    'kubectl delete pvc foo-testing -n test',
    'never',
  ],
  [
    'a snapshot without a grant, with near misses',
    {
      source: {
        wait: obstacle('SnapshotGrantMissing', "accessing x isn't allowed", [GRANTS], REFERENT),
      },
      misses: [{ namespace: 'prod', name: 'bar', wrong: ['to.name is "a"', 'b'] }],
    },
    'accessing x isn\'t allowed (ReferenceGrant prod/bar nearly allows it: to.name is "a"; b)',
    'stowage grant snapshot prod/foo-backup --to test --for claims',
    'at once, when a ReferenceGrant of namespace prod changes',
  ],
  [
    'a link without a grant',
    { source: { wait: obstacle('SnapshotGrantMissing', 'no', [GRANTS, LINK], REFERENT) } },
    'no',
    'stowage grant snapshot prod/foo-backup --to test --for links',
    'or VolumeSnapshotLink test/foo-link changes',
  ],
  [
    'a missing snapshot',
    { source: { wait: obstacle('SourceMissing', 'gone', [SNAPSHOT]) } },
    'gone',
    'stowage create snapshot prod/foo-backup --pvc CLAIM',
    'at once, when VolumeSnapshot prod/foo-backup changes',
  ],
  [
    'a snapshot that is not ready',
    { source: { wait: obstacle('SnapshotNotReady', 'not ready', [SNAPSHOT]) } },
    'not ready',
    'stowage why snapshot prod/foo-backup',
    'at once',
  ],
  [
    'links without a VolumePopulator',
    { source: { wait: obstacle('LinksNotRegistered', 'no', [{ kind: 'VolumePopulator' }]) } },
    'no',
    'stowage install --components populator-crds',
    'at once, when a VolumePopulator changes',
  ],
  [
    'a link that the daemon leaves to another populator',
    {
      source: {
        other: {
          ...{ kind: 'other', group: 'snapshot.storage.k8s.io', objectKind: 'VolumeSnapshotLink' },
          ...{ namespace: 'test', name: 'foo-link' },
        },
      },
    },
    'VolumeSnapshotLink foo-link, which the daemon leaves to another populator (--cross-namespace-snapshot=false)',
    '--cross-namespace-snapshot=true',
    'when that populator has filled a volume',
  ],
  [
    'a missing link',
    { source: { wait: obstacle('SourceMissing', 'gone', [LINK]) } },
    'gone',
    undefined,
    'at once, when VolumeSnapshotLink test/foo-link changes',
  ],
  [
    'a source that is not bound',
    {
      source: {
        wait: obstacle('SourceUnbound', 'x', [
          { kind: 'PersistentVolumeClaim', namespace: 'test', name: 'foo' },
        ]),
      },
    },
    'x',
    'stowage why pvc test/foo',
    'at once',
  ],
  [
    'too small a size',
    { source: { refuse: obstacle('SmallerThanSnapshot', 'the claim requests 1Mi', [SNAPSHOT]) } },
    'the claim requests 1Mi',
    'kubectl delete pvc foo-testing -n test',
    'never: the claim must be created again',
  ],
  [
    'a kind of another populator',
    {
      source: {
        other: {
          kind: 'other',
          group: 'snapshot.storage.k8s.io/v1',
          objectKind: 'VolumeSnapshot',
          namespace: 'test',
          name: 'a',
        },
      },
    },
    'VolumeSnapshot a of group "snapshot.storage.k8s.io/v1", whose group contains a version, which is for another populator',
    'kubectl get volumepopulators',
    'when that populator has filled a volume',
  ],
  [
    'a Volume that failed',
    { volume: { found: made }, known: aboutMade },
    'its Volume pvc-uid: it broke',
    'stowage retry volume pvc-uid',
    'when it is retried, or its spec is changed',
  ],
  [
    'an Available Volume that is not bound yet',
    {
      volume: {
        found: volumeNamed('pvc-uid', { phase: 'Available', ...ready('True', 'Available') }),
      },
    },
    'its Volume pvc-uid is Available, but the claim is not bound to it yet',
    'kubectl describe pvc foo-testing -n test',
    'within seconds',
  ],
  [
    'a class with an unknown parameter',
    { storageClass: { found: { ...FAST, parameters: { size: '1Gi' } } } },
    'storage class fast: unknown parameter "size"',
    'stowage delete storageclass fast',
    'when the class is replaced',
  ],
  ...[WAITS, { ...WAITS, provisioner: 'kubernetes.io/no-provisioner' }].map(
    (found): [string, Partial<ClaimFacts>, string, string, string] => [
      `a VolumeAttributesClass with a class of ${found.provisioner}`,
      { ...spec({ volumeAttributesClassName: 'gold' }), storageClass: { found } },
      'the claim names VolumeAttributesClass gold, and only volumes of CSI drivers have one',
      'kubectl delete pvc foo-testing -n test',
      'never',
    ],
  ),
  [
    'a class that waits for a pod',
    { storageClass: { found: WAITS } },
    'its storage class waits for the first pod that uses the claim, and there is none',
    undefined,
    'when a pod that uses it is scheduled',
  ],
  [
    'an unscheduled pod, after a node without room',
    {
      storageClass: { found: WAITS },
      pods: { found: [pod('done', 'n1'), pod('p')] },
      events: { found: [warning('n1 has no room')] },
    },
    'no node is selected for pod p, which uses it; last reported: ProvisioningFailed: n1 has no room',
    'stowage why pod test/p',
    'when a node is selected for the pod',
  ],
  [
    'an unscheduled pod, with unknown room of a node',
    {
      storageClass: { found: WAITS },
      pods: { found: [pod('p')] },
      classEvents: {
        found: [room('RoomKnown', 'n2'), room('RoomUnknown', 'n1'), room('RoomUnknown', 'n3')],
      },
    },
    'no node is selected for pod p, which uses it; last reported: node n1: sudo refused it',
    'stowage check node n1',
    'when a node is selected for the pod',
  ],
  [
    'an unscheduled pod, without stale events or those of other components',
    {
      storageClass: { found: WAITS },
      pods: { found: [pod('p')] },
      classEvents: {
        found: [
          room('RoomUnknown', 'n1'),
          room('RoomKnown', 'n1'),
          { ...room('RoomUnknown', 'n2'), source: { component: 'tenant' } },
        ],
      },
    },
    'no node is selected for pod p, which uses it',
    'stowage why pod test/p',
    'when a node is selected for the pod',
  ],
  ...[
    room('RoomUnknown', '$(reboot)'),
    eventOf('RoomUnknown', { message: 'node n1: sudo refused it' }),
  ].map((event): [string, Partial<ClaimFacts>, string, string, string] => [
    'an unscheduled pod, with unknown room of a node without a valid name',
    {
      storageClass: { found: WAITS },
      pods: { found: [pod('p')] },
      classEvents: { found: [event] },
    },
    ': sudo refused it',
    'kubectl describe storageclass fast',
    'when a node is selected for the pod',
  ]),
  [
    'an unscheduled pod, after a node whose free extents carry data',
    {
      storageClass: { found: THICK },
      pods: { found: [pod('p')] },
      events: { found: [warning(CARRIED)] },
    },
    'no node is selected for pod p, which uses it; last reported: ProvisioningFailed: free extents of volume group vg0',
    CONSENT,
    'when a node is selected for the pod',
  ],
  [
    'the last event of the daemon',
    { events: { found: [warning('old'), warning('n1 has no room')] } },
    'ProvisioningFailed: n1 has no room',
    'kubectl describe pvc foo-testing -n test',
    'automatically',
  ],
  [
    'a directory that is not mounted',
    { events: { found: [warning(explain('NodeDirectoryUnusable', { node: 'n1' }))] } },
    'ProvisioningFailed: node n1 has no available capacity',
    'stowage check node n1',
    'automatically',
  ],
  [
    'no daemon, though the last event is normal',
    { events: { found: [warning('old'), warning('fine', 'Normal')] } },
    'no daemon has processed it yet',
    'stowage watch',
    'within seconds, if a daemon runs',
  ],
])('diagnoseClaim explains: %s', (_name, parts, holdup, command, when) => {
  expectByCodes((facts) => diagnoseClaim(facts, NOW), known(parts));
  const found = diagnoseClaim(known(parts), NOW);
  expect(found).toMatchObject({
    holdup: expect.stringContaining(holdup),
    next: { when: expect.stringContaining(when) },
    fix: { say: expect.any(String) },
  });
  const { fix } = found as { fix: Fix };
  expect(fix.run?.[0] ?? fix.daemonFlags?.[0]).toEqual(command);
});

test('diagnoseClaim ignores the data source once the Volume exists', () => {
  const denied = { wait: obstacle('SnapshotGrantMissing', "isn't allowed", [GRANTS], REFERENT) };
  const volume = { found: made };
  expect(diagnoseClaim(known({ source: denied, volume, known: aboutMade }), NOW)).toMatchObject({
    holdup: expect.stringContaining('its Volume pvc-uid: '),
  });
});

test('diagnoseClaim prints the hint for an invalid snapshot name', () => {
  const referent = { ...REFERENT.referent, name: 'a; rm' };
  const more = { referent, hint: 'Correct the name: no VolumeSnapshot can have this one.' };
  const denied = { wait: obstacle('SourceNameInvalid', "isn't allowed", [GRANTS], more) };
  expect(diagnoseClaim(known({ source: denied }), NOW)).toMatchObject({ fix: { say: more.hint } });
});

test('diagnoseClaim does not wait for a node that is already selected', () => {
  const chosen = metadata({ annotations: { 'volume.kubernetes.io/selected-node': 'n1' } });
  const pods = (found: Pod[]) =>
    known({ ...chosen, storageClass: { found: WAITS }, pods: { found } });
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'test' },
    spec: {},
  };
  expect(diagnoseClaim(pods([pod]), NOW)).toMatchObject({
    holdup: 'no daemon has processed it yet',
    since: '2029-12-31T23:30:00Z',
  });
  expect(diagnoseClaim(pods([]), NOW)).toMatchObject({
    cause: 'NoConsumer',
    holdup:
      'its storage class waits for the first pod that uses the claim, and there is none: node n1 is selected for no pod',
  });
});

describe('a claim whose pod names its node', () => {
  const holdup =
    'pod p, which uses it, has node n2 already (spec.nodeName), so that the scheduler selects no node for the claim';
  const STATIC = { ...WAITS, provisioner: 'kubernetes.io/no-provisioner' };
  const facts = (storageClass: StorageClass, ...found: Pod[]) =>
    known({ storageClass: { found: storageClass }, pods: { found } });
  const ended = { ...pod('done', 'n1'), status: { phase: 'Succeeded' } };

  test.each([
    ['dynamic', WAITS],
    ['static', STATIC],
  ])('is held up by that pod, and no other is proposed (%s class)', (_, storageClass) => {
    const found = diagnoseClaim(facts(storageClass, ended, pod('p', 'n2')), NOW);
    expect(found).toMatchObject({
      cause: 'SchedulerBypassed',
      chain: [{ kind: 'Pod', namespace: 'test', name: 'p' }],
      holdup,
      fix: { say: expect.stringContaining('nodeSelector') },
    });
    expect(found).not.toHaveProperty('fix.manifest');
    expect(found).not.toHaveProperty('fix.run');
  });

  test('is reported to that pod', () => {
    expect(ofPod(facts(WAITS, pod('p', 'n2')), NOW)).toMatchObject({ holdup });
  });

  test.each<[string, ClaimFacts, string]>([
    [
      'waits for a pod that is not scheduled',
      facts(WAITS, pod('p', 'n2'), pod('q')),
      'NotScheduled',
    ],
    ['needs a pod if that one has ended', facts(WAITS, ended), 'NoConsumer'],
    ['is provisioned at once by an immediate class', facts(FAST, pod('p', 'n2')), 'NotTakenUp'],
    [
      'is provisioned on a node that was selected',
      {
        ...facts(WAITS, pod('p', 'n2')),
        ...metadata({ annotations: { 'volume.kubernetes.io/selected-node': 'n2' } }),
      },
      'NotTakenUp',
    ],
  ])('%s', (_, given, cause) => {
    expect(diagnoseClaim(given, NOW)).toMatchObject({ cause });
  });
});

describe('a bound claim', () => {
  const { claim: bound } = boundClaim('foo', 'test');
  test('is not held up', () => {
    expect(diagnoseClaim(known({ claim: bound, storageClass: ABSENT }), NOW)).toEqual({
      nothing: 'PersistentVolumeClaim test/foo is Bound to pvc-foo: nothing holds it up',
    });
  });

  test('is held up by its failed Volume', () => {
    expect(
      diagnoseClaim(known({ claim: bound, volume: { found: made }, known: aboutMade }), NOW),
    ).toMatchObject({
      holdup: 'its Volume pvc-uid: it broke',
    });
  });

  test('is not held up while its terminating Volume waits for it', () => {
    const volume = terminating('the PersistentVolume is still in use');
    const { name: volumeName } = volume.metadata;
    const its = { ...bound, spec: { ...bound.spec, volumeName } };
    const facts = { ...aboutMade, volume, claim: { found: its }, pv: pv('Bound') };
    expect(diagnose(facts, NOW)).toMatchObject({ cause: 'ClaimHoldsDeletion' });
    const all = known({ claim: bound, volume: { found: volume }, known: facts });
    expect(diagnoseClaim(all, NOW)).toMatchObject({ nothing: expect.any(String) });
  });

  test('reports that its data source was dropped', () => {
    const source = { refuse: obstacle('SourceDropped', 'the API server dropped that') };
    expect(diagnoseClaim(known({ claim: bound, source }), NOW)).toMatchObject({
      holdup: 'its volume was created empty: the API server dropped that',
      fix: { run: ['kubectl delete pvc foo -n test'] },
    });
  });

  test('reports a pending expansion', () => {
    const grown = {
      ...bound,
      spec: { ...bound.spec, resources: { requests: { storage: '2Gi' } } },
      status: {
        ...bound.status,
        conditions: [
          {
            type: 'Resizing',
            status: 'True',
            message: 'no room',
            lastTransitionTime: '2029-12-31T23:00:00Z',
          },
        ],
      },
    };
    expect(diagnoseClaim(known({ claim: grown as never }), NOW)).toMatchObject({
      holdup: 'it is usable, but has 1Gi of the requested 2Gi: no room',
      since: '2029-12-31T23:00:00Z',
    });
  });

  test('names what takes the room that an expansion lacks', () => {
    const grown = {
      ...bound,
      spec: { ...bound.spec, resources: { requests: { storage: '2Gi' } } },
    };
    const short = {
      ...{ node: 'n1', free: '0 bytes', place: 'the directory of its storage class' },
      wanted: '1Gi',
    };
    const event = eventOf('VolumeResizeFailed', explain('NoRoomToGrow', short));
    const storageClass = {
      found: { ...WAITS, parameters: { type: 'sparse', directory: '/srv/data' } },
    };
    const found = known({
      ...{ claim: grown as never, storageClass },
      events: { found: [event] },
    });
    expect(diagnoseClaim(found, NOW)).toMatchObject({
      cause: 'NotGrown',
      holdup: expect.stringContaining('has 0 bytes available in the directory'),
      fix: {
        say: expect.stringMatching(/^Free up space in \/srv\/data: .* promised to other Volumes/),
        run: ['stowage top nodes n1'],
      },
    });
  });
});

test.each<[string, Partial<ClaimFacts>, string | undefined]>([
  [
    'a source that is not ready',
    { source: { wait: obstacle('SnapshotNotReady', 'not ready', [SNAPSHOT]) } },
    'not ready',
  ],
  ['nothing but the pod', { storageClass: { found: WAITS } }, undefined],
  [
    'a node without room',
    { storageClass: { found: WAITS }, events: { found: [warning('no room')] } },
    'ProvisioningFailed: no room',
  ],
  ['no daemon', {}, 'no daemon has processed it yet'],
  ['a static class', { storageClass: { found: classNamed('fast') } }, undefined],
  [
    'a class of another provisioner',
    { storageClass: { found: { ...FAST, provisioner: 'ebs.csi.aws.com' } } },
    'volumes of its storage class fast are provisioned by ebs.csi.aws.com, not by Stowage',
  ],
])('ofPod explains the claim of a waiting pod: %s', (_name, parts, holdup) => {
  expect(ofPod(known(parts), NOW)?.holdup).toBe(holdup);
});

const DESCRIBE = 'kubectl describe pvc foo-testing -n test';
const FOREIGN = { source: { component: 'persistentvolume-controller' } };
const ON_N1 = { node: 'n1' };
test.each<[string, AnyEvent, string, string]>([
  [
    'no room',
    warning(explain('NoRoom', { ...ON_N1, free: 1, place: 'x', wanted: 2 })),
    'NoRoom',
    'stowage get nodes',
  ],
  ['unknown room', warning(explain('RoomUnknown', ON_N1)), 'RoomUnknown', 'stowage check node n1'],
  [
    'an unusable directory',
    warning(explain('NodeDirectoryUnusable', ON_N1)),
    'DirectoryNotMounted',
    'stowage check node n1',
  ],
  [
    'a node that is not Ready',
    warning(explain('NodeNotReady', ON_N1)),
    'NodeNotReady',
    'stowage why node n1',
  ],
  ['data in free extents', warning(CARRIED), 'FreeExtentsCarryData', DESCRIBE],
  ['a pause', warning(explain('NodePaused', ON_N1)), 'ProvisioningFailed', DESCRIBE],
  ['a missing grant', warning({ message: 'x', detail: grantMissing }), 'GrantMissing', DESCRIBE],
  ['a node, without a reason', warning('node n1 is not Ready'), 'UnknownReason', DESCRIBE],
  [
    'a reason of a later version',
    warning({ message: 'x', detail: { code: 'Moved', parameters: ON_N1 } }),
    'UnknownReason',
    DESCRIBE,
  ],
  ['anything, from others', { ...warning('x'), ...FOREIGN }, 'ProvisioningFailed', DESCRIBE],
  [
    'data in free extents, from others',
    { ...warning(CARRIED), ...FOREIGN },
    'ProvisioningFailed',
    DESCRIBE,
  ],
  [
    'a node with an invalid name',
    warning(explain('NodeNotReady', { node: 'n1; reboot' })),
    'NodeNotReady',
    DESCRIBE,
  ],
  // Events in a claim's namespace can be forged: only fixes for claims are printed.
  [
    'data in free extents, forged',
    warning(explain('FreeExtentsCarryData', FORGED)),
    'SignatureFound',
    DESCRIBE,
  ],
])('diagnoseClaim finds the cause of an event about %s', (_, event, cause, command) => {
  const storageClass = { forbidden: 'no' };
  const facts = known({ events: { found: [event] }, storageClass });
  const found = diagnoseClaim(facts, NOW);
  expect(found).toMatchObject({ cause, holdup: `ProvisioningFailed: ${event.message}` });
  expect((found as { fix: Fix }).fix.run?.[0]).toBe(command);
});

test('a disabled feature gate is enabled by a daemon flag', () => {
  const off = explain('GateOff', { kind: 'VolumeSnapshot', source: 'a/b', namespace: 'test' });
  const facts = known({ events: { found: [warning(off)] }, source: undefined });
  expect(diagnoseClaim(facts, NOW)).toMatchObject({
    cause: 'GateOff',
    holdup: expect.stringMatching(/^ProvisioningFailed: .*, which this daemon does not allow$/),
    fix: {
      say: expect.stringContaining('(stowage restore snapshot creates one)'),
      daemonFlags: ['--feature-gates', 'CrossNamespaceVolumeDataSource=true'],
    },
  });
});

test.each<[string, Explanation]>([
  ['GateOff', explain('GateOff', { kind: 'VolumeSnapshot', source: 'a/b', namespace: 'test' })],
  ['SourceDropped', explain('SourceDropped', { kind: 'VolumeSnapshot', source: 'a/b' })],
])('the message of %s names the command that creates a link', (_, { message }) => {
  expect(message).toContain('a VolumeSnapshotLink (stowage restore snapshot creates one)');
});

test('a missing link leads to the page that shows one', () => {
  const facts = known({ source: { wait: obstacle('SourceMissing', 'gone', [LINK]) } });
  expect(diagnoseClaim(facts, NOW)).toMatchObject({
    fix: {
      say: 'Create VolumeSnapshotLink foo-link in namespace test, with the snapshot as its source, as docs/grants.md shows.',
    },
  });
});

describe('a claim whose data source is on a node', () => {
  const nodeOf = (status: string) => ({
    found: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { conditions: [{ type: 'Ready', status }] },
    } as KubeNode,
  });
  test.each<[string, NonNullable<ClaimFacts['sourceNodes']>, object]>([
    [
      'that is gone',
      [{ name: 'n1', node: ABSENT }],
      {
        cause: 'NodeMissing',
        holdup: 'its source is only on node n1: there is no node n1',
        fix: { run: ['kubectl get nodes'] },
      },
    ],
    [
      'that is not Ready',
      [{ name: 'n1', node: nodeOf('Unknown') }],
      { cause: 'NodeNotReady', fix: { run: ['stowage why node n1'] } },
    ],
    ['that is Ready', [{ name: 'n1', node: nodeOf('True') }], { cause: 'NoConsumer' }],
    [
      'that is not Ready, and on one that is Ready',
      [
        { name: 'n1', node: nodeOf('False') },
        { name: 'n2', node: nodeOf('True') },
      ],
      { cause: 'NoConsumer' },
    ],
    ['that may not be read', [{ name: 'n1', node: { forbidden: 'no' } }], { cause: 'NoConsumer' }],
  ])('%s', (_, sourceNodes, expected) => {
    const waits = { storageClass: { found: WAITS }, sourceNodes };
    expect(diagnoseClaim(known(waits), NOW)).toMatchObject(expected);
  });
});

test.each([
  ['populator', { definitions: ['d'], registered: true }],
  ['claim', undefined],
] as const)('a claim waits for the controller %s', (controller, population) => {
  expect(diagnoseClaim(known({ population }), NOW)).toMatchObject({
    cause: 'NotTakenUp',
    controller,
  });
});

test('a claim reports NoRoom if the scheduler finds no storage for its pod', () => {
  const message = '0/2 nodes are available: 2 node(s) did not have enough free storage.';
  const waiting: Pod = {
    ...pod('p'),
    status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
  };
  const waits = known({ storageClass: { found: WAITS }, pods: { found: [waiting] } });
  const expected = { cause: 'NoRoom', fix: { run: expect.arrayContaining(['stowage get nodes']) } };
  expect(diagnoseClaim(waits, NOW)).toMatchObject(expected);
  expect(ofPod(waits, NOW)).toMatchObject(expected);
  const others = known({ storageClass: { found: WAITS }, pods: { found: [pod('p')] } });
  expect(diagnoseClaim(others, NOW)).toMatchObject({ cause: 'NotScheduled' });
  expect(ofPod(others, NOW)).toBeUndefined();
});
