import { describe, expect, test } from '@jest/globals';
import type { AnyEvent } from '../../../src/api/core.ts';
import { DRIVER } from '../../../src/api/names.ts';
import { explain, type Reason, reason, reasonAnnotations } from '../../../src/api/reasons.ts';
import type { VolumeSnapshot, VolumeSnapshotClass } from '../../../src/api/snapshot.ts';
import { diagnoseSnapshot } from '../../../src/cli/why/snapshot/diagnose.ts';
import type { SnapshotFacts } from '../../../src/cli/why/snapshot/read.ts';
import type { Blocker } from '../../../src/cli/why/types.ts';
import { expectByCodes } from '../../support/scramble.ts';
import { boundClaim, CONTENT, claimNamed, SNAPSHOT } from '../../support/snapshots.ts';

const ABSENT = { absent: true } as const;
const { claim, pv } = boundClaim('foo', 'prod');
const classNamed = (
  name: string,
  more: object = {},
  annotations: object = {},
): VolumeSnapshotClass => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: { name, annotations: { ...annotations } },
  driver: DRIVER,
  deletionPolicy: 'Delete',
  ...more,
});
const DEFAULT = classNamed(
  'standard',
  {},
  { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
);
const AS_DEFAULT = "'snapshot.storage.kubernetes.io/is-default-class=true'";
const NO_DEFAULT = classNamed(
  'a',
  {},
  { 'snapshot.storage.kubernetes.io/is-default-class': 'false' },
);
const PENDING: VolumeSnapshot = { ...SNAPSHOT, status: {} };
const BY_HAND: VolumeSnapshot = {
  ...PENDING,
  spec: { source: { volumeSnapshotContentName: 'snapcontent-uid-snapshot' } },
};
const known = (parts: Partial<SnapshotFacts> = {}): SnapshotFacts => ({
  snapshot: PENDING,
  content: ABSENT,
  claim: { found: claim },
  pv: { found: pv },
  classes: { found: [DEFAULT, classNamed('other', { driver: 'ebs.csi.aws.com' })] },
  events: { found: [] },
  ...parts,
});
const metadata = (more: object) => ({
  snapshot: {
    ...SNAPSHOT,
    metadata: { ...SNAPSHOT.metadata, deletionTimestamp: '2029-12-31T23:59:00Z', ...more },
  },
});
const ofClass = (name: string) => ({
  snapshot: { ...PENDING, spec: { ...PENDING.spec, volumeSnapshotClassName: name } },
});
const content = (spec: object, status: object = {}) => ({
  content: { found: { ...CONTENT, spec: { ...CONTENT.spec, ...spec }, status: { ...status } } },
});
const ref = CONTENT.spec.volumeSnapshotRef;
const warning = {
  type: 'Warning',
  reason: 'SnapshotCreationFailed',
  message: 'the node is away',
  lastTimestamp: '2029-12-31T23:58:00Z',
  metadata: { name: 'e' },
  involvedObject: {},
} as unknown as AnyEvent;
const BOUND = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';
const YAML = 'kubectl get volumesnapshot foo-backup -n prod -o yaml';

test.each<[string, Partial<SnapshotFacts>, string, string | undefined]>([
  [
    'deleted while a claim is created from it',
    metadata({
      finalizers: [BOUND, 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection'],
    }),
    'it is being deleted, and a claim is being created from it',
    'stowage get grants -n prod',
  ],
  [
    'deleted, and its content stays',
    {
      ...metadata({ finalizers: [BOUND] }),
      ...content({}, { error: { message: 'the node is away' } }),
    },
    'its content snapcontent-uid-snapshot still exists: the node is away',
    undefined,
  ],
  [
    'deleted, without a daemon',
    { ...metadata({ finalizers: [BOUND] }), ...content({}) },
    'its content snapcontent-uid-snapshot still exists',
    'stowage watch',
  ],
  [
    'deleted, with finalizers of others',
    metadata({ finalizers: ['example.com/x'] }),
    'waits for the finalizers example.com/x',
    YAML,
  ],
  [
    'deleted, and its content may not be read',
    { ...metadata({ finalizers: [BOUND] }), content: { forbidden: 'no' } },
    `waits for the finalizers ${BOUND}`,
    'kubectl describe volumesnapshot foo-backup -n prod',
  ],
  [
    'no class',
    { classes: { found: [] } },
    'it names no class, and there is no default one',
    'stowage create snapshotclass stowage --default',
  ],
  [
    'a default class of another driver',
    { classes: { found: [{ ...DEFAULT, driver: 'ebs.csi.aws.com' }] } },
    'there is no default one of volume.stowage.dev',
    'stowage create snapshotclass stowage --default',
  ],
  [
    'a class of Stowage that is not the default',
    { classes: { found: [classNamed('stowage')] } },
    'there is no default one of volume.stowage.dev',
    `kubectl annotate volumesnapshotclass stowage ${AS_DEFAULT}`,
  ],
  [
    'several classes of Stowage, the first of which is expressly not the default',
    { classes: { found: [classNamed('b'), NO_DEFAULT] } },
    'there is no default one of volume.stowage.dev',
    `kubectl annotate volumesnapshotclass a ${AS_DEFAULT} --overwrite`,
  ],
  [
    'no class, and the usual name is that of another driver',
    { classes: { found: [classNamed('stowage', { driver: 'ebs.csi.aws.com' })] } },
    'there is no default one of volume.stowage.dev',
    undefined,
  ],
  [
    'several default classes',
    { classes: { found: [DEFAULT, { ...DEFAULT, metadata: { ...DEFAULT.metadata, name: 'b' } }] } },
    'several default ones of volume.stowage.dev: standard, b',
    undefined,
  ],
  [
    'a missing class',
    ofClass('nowhere'),
    'its class nowhere does not exist',
    'stowage create snapshotclass nowhere',
  ],
  [
    'a missing class whose name is none',
    ofClass('--kubeconfig=x'),
    'its class --kubeconfig=x does not exist',
    undefined,
  ],
  [
    'a class of another driver',
    ofClass('other'),
    'its class other is of the driver ebs.csi.aws.com',
    undefined,
  ],
  [
    'no claim',
    { claim: ABSENT },
    'there is no claim foo in namespace prod',
    'kubectl get pvc -n prod',
  ],
  [
    'a Pending claim',
    { claim: { found: claimNamed('foo', {}, 'prod') } },
    'its claim foo is Pending, and has no volume yet',
    'stowage why pvc prod/foo',
  ],
  [
    'a claim of another provisioner',
    { pv: { found: { ...pv, metadata: { name: 'x' } } } },
    'the volume pvc-foo of its claim foo is not a volume of Stowage',
    YAML,
  ],
  [
    'a missing content',
    { snapshot: BY_HAND },
    'its content snapcontent-uid-snapshot does not exist',
    undefined,
  ],
  [
    'a content of another snapshot',
    { snapshot: BY_HAND, ...content({ volumeSnapshotRef: { ...ref, name: 'other' } }) },
    'belongs to another snapshot, prod/other',
    'kubectl get volumesnapshotcontent snapcontent-uid-snapshot -o yaml',
  ],
  [
    'a content of an earlier snapshot of its name',
    { snapshot: BY_HAND, ...content({ volumeSnapshotRef: { ...ref, uid: 'old' } }) },
    'belongs to another snapshot, prod/foo-backup, which had the UID old',
    'kubectl get volumesnapshotcontent snapcontent-uid-snapshot -o yaml',
  ],
  [
    'a content of another driver',
    { snapshot: BY_HAND, ...content({ driver: 'ebs.csi.aws.com' }) },
    'is of the driver ebs.csi.aws.com, not of Stowage',
    YAML,
  ],
  [
    'an error',
    {
      snapshot: {
        ...PENDING,
        status: { error: { message: 'it broke', time: '2029-12-31T23:58:00Z' } },
      },
    },
    'it broke',
    undefined,
  ],
  [
    'an error of its content',
    content({}, { error: { message: 'it broke' } }),
    'it broke',
    undefined,
  ],
  [
    'an event',
    { events: { found: [warning] } },
    'SnapshotCreationFailed: the node is away',
    undefined,
  ],
  ['no daemon', {}, 'no daemon has processed it yet', 'stowage watch'],
  [
    'a content that is being created',
    content({}),
    'its content snapcontent-uid-snapshot is being created',
    'stowage watch',
  ],
  [
    'a content that is ready before the snapshot',
    content({}, { readyToUse: true }),
    'is ready, but the status of the snapshot is not updated yet',
    'stowage watch',
  ],
])('diagnoseSnapshot explains: %s', (_name, parts, holdup, command) => {
  expectByCodes(diagnoseSnapshot, known(parts));
  const found = diagnoseSnapshot(known(parts));
  expect(found).toMatchObject({
    holdup: expect.stringContaining(holdup),
    since: expect.stringMatching(/^20/),
    next: { when: expect.any(String) },
    fix: { say: expect.any(String) },
  });
  expect((found as { fix: { run?: string[] } }).fix.run?.[0]).toBe(command);
});

test('diagnoseSnapshot finds no blocker of a ready snapshot', () => {
  expect(diagnoseSnapshot(known({ snapshot: SNAPSHOT, classes: { found: [] } }))).toEqual({
    nothing: 'VolumeSnapshot prod/foo-backup is ready: claims can be created from it',
  });
});

test('diagnoseSnapshot waits for a content whose reference has no UID', () => {
  const { uid: _, ...named } = ref;
  const found = diagnoseSnapshot(
    known({ snapshot: BY_HAND, ...content({ volumeSnapshotRef: named }) }),
  );
  expect(found).toMatchObject({ holdup: expect.stringContaining('is being created') });
});

describe('diagnoseSnapshot finds the cause by its reason', () => {
  const failing = (detail: Reason, more: object = {}) => ({
    content: {
      found: {
        ...CONTENT,
        metadata: {
          ...CONTENT.metadata,
          annotations: { ...reasonAnnotations(detail), 'stowage.dev/error-time': 't' },
        },
        status: { error: { message: 'it broke', time: 't' } },
        ...more,
      },
    },
  });

  const AWAY = { node: 'n1', minion: 'm1' };
  const ofEvent = (detail: Reason, component = 'stowage') => ({
    events: {
      found: [
        {
          ...{ ...warning, source: { component } },
          metadata: { name: 'e', annotations: reasonAnnotations(detail) },
        },
      ],
    },
  });

  test('leaves the action of a reason to its fix', () => {
    const { message, detail } = explain('MinionDown', { node: 'n1', minion: 'm1' });
    const SENTENCE = 'node n1: minion m1 does not answer the salt-master';
    const status = { error: { message, time: 't' } };
    expect(diagnoseSnapshot(known(failing(detail, { status })))).toMatchObject({
      holdup: SENTENCE,
    });
    const { content: read } = failing(detail, { status });
    expect(
      diagnoseSnapshot(known({ ...metadata({ finalizers: [BOUND] }), content: read })),
    ).toMatchObject({
      holdup: expect.stringMatching(new RegExp(`still exists: ${SENTENCE}$`)),
    });
  });

  test.each<[string, Partial<SnapshotFacts>, string, string | undefined]>([
    [
      'a node that is unreachable for a known reason',
      failing(reason('MinionDown', { node: 'n1', minion: 'm1' })),
      'MinionDown',
      'ssh n1 systemctl start salt-minion',
    ],
    [
      'a node that does not answer',
      failing(reason('NodeSilent', { node: 'n1', seconds: 30 })),
      'SnapshotFailing',
      undefined,
    ],
    [
      'a pause of its node',
      failing(reason('SnapshotNodePaused', { node: 'n1' })),
      'Paused',
      'stowage resume node n1',
    ],
    [
      'a pause of its Volume',
      failing(reason('SnapshotVolumePaused', { volume: 'data1' })),
      'Paused',
      'stowage resume volume data1',
    ],
    [
      'a pause of its content',
      failing(reason('ContentPaused', { content: 'c1' })),
      'Paused',
      'kubectl annotate volumesnapshotcontent c1 stowage.dev/paused-',
    ],
    [
      'a copy whose job record is lost',
      failing(reason('ContentNoteLost', { volume: 'data1', content: 'c1', uid: 'u1' })),
      'SnapshotFailing',
      "kubectl annotate volumesnapshotcontent c1 'stowage.dev/forget-node=u1'",
    ],
    [
      'an event',
      {
        events: {
          found: [
            {
              ...warning,
              source: { component: 'stowage' },
              metadata: {
                name: 'e',
                annotations: reasonAnnotations(reason('SnapshotClaimUnbound', { claim: 'foo' })),
              },
            },
          ],
        },
      },
      'ClaimUnbound',
      undefined,
    ],
    [
      'a later error of another version',
      failing(reason('ContentPaused', { content: 'c1' }), {
        status: { error: { message: 'it broke', time: 'later' } },
      }),
      'UnknownReason',
      undefined,
    ],
    ['an event without a reason', { events: { found: [warning] } }, 'UnknownReason', undefined],
    [
      'an event of another component',
      ofEvent(reason('MinionDown', AWAY), 'x'),
      'UnknownReason',
      undefined,
    ],
    [
      'an event, whose parameters are in no command',
      ofEvent(reason('MinionDown', AWAY)),
      'MinionDown',
      undefined,
    ],
    [
      'a node with an invalid name',
      failing(reason('MinionDown', { node: '-oProxyCommand=x', minion: 'm' })),
      'MinionDown',
      undefined,
    ],
  ])('given %s', (_name, parts, cause, command) => {
    const found = diagnoseSnapshot(known(parts)) as Blocker;
    expect(found).toMatchObject({ cause, fix: { say: expect.any(String) } });
    expect(found.fix?.run?.[0]).toBe(command);
  });

  test('given a content whose removal fails', () => {
    const detail = reason('SaltUnreachable', { node: 'n1', url: 'https://s', said: 'no' });
    const found = diagnoseSnapshot(
      known({ ...metadata({ finalizers: [BOUND] }), ...failing(detail) }),
    );
    expect(found).toMatchObject({
      cause: 'RemovalFailed',
      fix: { run: ['systemctl start salt-master salt-api'] },
    });
  });
});
