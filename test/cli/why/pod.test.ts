import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { PersistentVolume, Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Attachment, Volume, VolumeSpec } from '../../../src/api/volume.ts';
import type { Claim } from '../../../src/cli/why/pod/known.ts';
import { ago, attachmentOn, nodeNamed } from '../../support/cluster-objects.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';

type Objects = Record<string, KubeObject>;
type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

function pod(parts: { spec?: Partial<Pod['spec']>; status?: Pod['status'] } = {}): Objects {
  const object: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'db-0', namespace: 'db', uid: 'uid-pod', creationTimestamp: ago(300) },
    spec: {
      nodeName: 'n1',
      volumes: [{ name: 'token' }, { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } }],
      ...parts.spec,
    },
    status: { phase: 'Pending', ...parts.status },
  };
  return { 'pods/db-0': object };
}
const unscheduled = (condition?: Partial<Condition>) =>
  pod({
    spec: { nodeName: '' },
    status: {
      conditions: condition ? [{ type: 'PodScheduled', status: 'False', ...condition }] : [],
    },
  });

function claim(parts: { spec?: Partial<Claim['spec']>; phase?: 'Pending' | 'Bound' | 'Lost' } = {}): Objects {
  const object: Claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-0', namespace: 'db', uid: 'uid-claim', creationTimestamp: ago(600) },
    spec: {
      storageClassName: 'fast',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
      ...parts.spec,
    },
    status: { phase: parts.phase ?? 'Pending' },
  };
  return { 'persistentvolumeclaims/data-0': object };
}
const claimWithout = (field: keyof Claim['spec']): Objects =>
  Object.fromEntries(
    Object.entries(claim()).map(([key, object]) => {
      const { [field]: _, ...spec } = (object as Claim).spec;
      return [key, { ...object, spec } as KubeObject];
    }),
  );
const bound = claim({ phase: 'Bound', spec: { volumeName: 'data1' } });

function volume(
  attachments: Attachment[] = [],
  parts: Omit<Partial<Volume>, 'spec'> & { spec?: Partial<VolumeSpec> } = {},
) {
  const base = volumeNamed('data1', {
    phase: 'Available',
    devicePath: '/dev/disk/by-uuid/u',
    ...ready('True', 'Available'),
    attachments,
    ...parts.status,
  });
  const spec = { ...base.spec, attachPolicy: 'OnDemand' as const, ...parts.spec };
  return { ...base, spec, metadata: { ...base.metadata, ...parts.metadata } };
}
const pv = (it: Volume, parts: Partial<PersistentVolume['spec']> = {}): PersistentVolume => {
  const object = pvOf(it, 'Bound');
  const claimRef = { namespace: 'db', name: 'data-0', uid: 'uid-claim' };
  return { ...object, spec: { ...object.spec, claimRef, ...parts } };
};
const backed = (it: Volume): Objects => ({
  ...bound,
  'volumes/data1': it,
  'persistentvolumes/data1': pv(it),
});
const on = (node: string, more: Partial<Attachment> = {}) =>
  attachmentOn(node, { pods: ['db/db-0'], since: ago(120), ...more });
const free = (name: string, parts: Partial<PersistentVolume['spec']> = {}): Objects => {
  const object = pvOf(volumeNamed(name), 'Available');
  const spec = { ...object.spec, storageClassName: 'fast', capacity: { storage: '10Gi' }, ...parts };
  return { [`persistentvolumes/${name}`]: { ...object, spec } as PersistentVolume };
};
const shared = { attachableNodes: ['n1', 'n2'] };
const pausedNode = nodeNamed('n1', { annotations: { 'stowage.dev/paused': 'true' } });
const condition = (message: string): Pod['status'] => ({
  conditions: [
    { type: 'stowage.dev/VolumesAttached', status: 'False', message, lastTransitionTime: ago(30) },
  ],
});

async function why(objects: Objects, world: World = {}) {
  const { out, code } = await stowage(['why', 'pod', 'db-0', '-n', 'db', '-o', 'json'], {
    objects,
    ...world,
  });
  expect(code).toBe(0);
  return JSON.parse(out);
}

describe('held up by', () => {
  const merge = (...all: Objects[]): Objects => Object.assign({}, ...all);
  const taintN2 = "kubectl taint node n2 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'";

  test.each<[string, Objects, { holdup: string; since?: string; fix?: string }]>([
    [
      'a claim that does not exist, whatever the scheduler says',
      unscheduled({ message: 'persistentvolumeclaim "data-0" not found' }),
      { holdup: 'its claim db/data-0 does not exist', since: ago(300), fix: 'kubectl get pvc -n db' },
    ],
    [
      'no scheduler',
      merge(unscheduled(), backed(volume())),
      { holdup: 'it is on no node yet: no scheduler has said anything of it', since: ago(300) },
    ],
    [
      'the scheduler',
      merge(
        unscheduled({ message: '0/3 nodes are available', lastTransitionTime: ago(10) }),
        backed(volume()),
      ),
      {
        holdup: 'it is on no node yet: 0/3 nodes are available',
        since: ago(10),
        fix: 'kubectl describe pod db-0 -n db',
      },
    ],
    [
      'the scheduler, for want of a volume',
      merge(unscheduled({ message: 'no volume' }), claim()),
      {
        holdup:
          'it is on no node yet: no volume; its claim db/data-0 is Pending: there is no PersistentVolume of storage class fast',
        fix: 'stowage create volume NAME --node NODE --type sparse --size 5Gi --storage-class fast',
      },
    ],
    [
      'a Volume that is being made',
      merge(pod(), claim(), { 'volumes/new': volumeNamed('new', { phase: 'Pending' }) }),
      {
        holdup: 'its claim db/data-0 is Pending: there is no PersistentVolume of storage class fast',
        since: ago(600),
        fix: 'stowage why volume new',
      },
    ],
    [
      'volumes that are taken',
      merge(pod(), claim(), {
        'persistentvolumes/data1': {
          ...pv(volume()),
          spec: { ...pv(volume()).spec, storageClassName: 'fast' },
        },
      } as Objects),
      { holdup: 'no PersistentVolume of storage class fast is free, of 1' },
    ],
    [
      'volumes of the other mode',
      merge(pod(), claim({ spec: { volumeMode: 'Block' } }), free('a')),
      { holdup: 'no free PersistentVolume of storage class fast is of mode Block', fix: '--mode Block' },
    ],
    [
      'volumes that are too small',
      merge(
        pod(),
        claim(),
        free('a', { capacity: { storage: '2Gi' } }),
        free('b', { capacity: { storage: '4Gi' } }),
      ),
      { holdup: 'it asks for 5Gi, and the largest free PersistentVolume of storage class fast has 4Gi' },
    ],
    [
      'an access mode that none has',
      merge(pod(), claim({ spec: { accessModes: ['ReadWriteMany'] } }), free('a')),
      { holdup: 'no PersistentVolume of storage class fast can be had ReadWriteMany' },
    ],
    [
      'an access mode, of those that are free',
      merge(
        pod(),
        claim({ spec: { accessModes: ['ReadOnlyMany'] } }),
        free('a'),
        free('b', { accessModes: ['ReadOnlyMany'], capacity: { storage: '1Gi' } }),
      ),
      { holdup: 'no free PersistentVolume of storage class fast can be had ReadOnlyMany' },
    ],
    [
      'its claim, which wants none of a class',
      merge(pod(), claim({ spec: { storageClassName: '' } })),
      {
        holdup: 'it asks for a PersistentVolume without a storage class, and all that Stowage makes have one',
        fix: 'stowage get volumes',
      },
    ],
    [
      'a class of others, whose volumes nobody makes by hand',
      merge(pod(), claim(), {
        'storageclasses/fast': { ...classNamed('fast'), provisioner: 'ebs.csi.aws.com' } as KubeObject,
      }),
      {
        holdup: 'volumes of its storage class fast are made by ebs.csi.aws.com, and not by Stowage',
        since: ago(600),
        fix: 'kubectl describe pvc data-0 -n db',
      },
    ],
    [
      'a claim of such a class that lost its volume',
      merge(pod(), claim({ phase: 'Lost', spec: { volumeName: 'gone' } }), {
        'storageclasses/fast': { ...classNamed('fast'), provisioner: 'ebs.csi.aws.com' } as KubeObject,
      }),
      { holdup: 'its claim db/data-0 is Lost: its PersistentVolume gone is gone' },
    ],
    [
      'no class',
      merge(pod(), claimWithout('storageClassName')),
      {
        holdup: 'it names no storage class, and there is no default one',
        fix: 'stowage create storageclass NAME --dynamic --default',
      },
    ],
    [
      'a PersistentVolume that it names, and that is not there',
      merge(pod(), claim({ spec: { volumeName: 'gone' } }), free('a')),
      { holdup: 'it is to have the PersistentVolume gone, which does not exist' },
    ],
    [
      'a PersistentVolume that it names, and that another has',
      merge(
        pod(),
        claim({ spec: { volumeName: 'a' } }),
        free('a', { claimRef: { namespace: 'db', name: 'other', uid: 'o' } }),
      ),
      { holdup: 'the PersistentVolume a, which is bound to another claim: db/other' },
    ],
    [
      'who binds the PersistentVolume that it names',
      merge(pod(), claim({ spec: { volumeName: 'a' } }), free('a')),
      { holdup: 'it is to have the PersistentVolume a', fix: 'kubectl describe pvc data-0 -n db' },
    ],
    [
      'who binds',
      merge(pod(), claim(), free('a')),
      {
        holdup: 'it is not bound yet, though there is room for it (a)',
        fix: 'kubectl describe pvc data-0 -n db',
      },
    ],
    [
      'a PersistentVolume that is lost',
      merge(pod(), claim({ phase: 'Lost', spec: { volumeName: 'data1' } })),
      { holdup: 'its claim db/data-0 is Lost: its PersistentVolume data1 is gone' },
    ],
    [
      'a PersistentVolume that is gone',
      merge(pod(), bound),
      { holdup: 'the PersistentVolume data1 of its claim db/data-0 is gone' },
    ],
    [
      'a PersistentVolume of another claim of that name',
      merge(pod(), bound, {
        'volumes/data1': volume(),
        'persistentvolumes/data1': pv(volume(), {
          claimRef: { namespace: 'db', name: 'data-0', uid: 'old' },
        }),
      }),
      { holdup: 'the PersistentVolume data1 is bound to another claim than its db/data-0' },
    ],
    [
      'a Volume that is gone',
      merge(pod(), bound, { 'persistentvolumes/data1': pv(volume()) }),
      { holdup: 'the Volume of its claim db/data-0 is gone' },
    ],
    [
      'a Volume of that name that was made later',
      merge(pod(), backed(volume([on('n1')])), {
        'volumes/data1': volume([on('n1')], { metadata: { name: 'data1', uid: 'uid-later' } }),
      }),
      { holdup: 'the Volume of its claim db/data-0 is gone' },
    ],
    [
      'its turn, of a volume that others read',
      merge(pod(), backed(volume([on('n2', { readOnly: true })], { spec: shared }))),
      { holdup: 'Volume data1 is not attached to node n1 yet' },
    ],
    [
      'what holds the Volume up',
      merge(pod(), backed(volume([], { status: ready('Unknown', 'NodeUnreachable', 'no route') }))),
      {
        holdup:
          'Volume data1: there is no node n1 in this cluster, and none is reached under that name: no route',
      },
    ],
    [
      'attachment that is switched off',
      merge(pod(), backed(volume([], { status: ready('Unknown', 'AttachmentDisabled', 'off') }))),
      { holdup: 'Volume data1: off', fix: "stowage watch --controllers '*'" },
    ],
    [
      'another node that has it',
      merge(
        pod(),
        backed(volume([on('n2', { pods: ['db/old', 'x/y'], message: 'mounted' })], { spec: shared })),
      ),
      {
        holdup:
          'Volume data1 cannot be attached to node n1: it is Attached on node n2, where these pods need it: db/old, x/y (mounted), and it can be on one node at a time',
        since: ago(120),
        fix: 'kubectl delete pod -n db old\nkubectl delete pod -n x y',
      },
    ],
    [
      'another node that lets go of it',
      merge(pod(), backed(volume([on('n2', { state: 'Detaching', pods: [] })], { spec: shared }))),
      { holdup: 'it is Detaching on node n2, and it can be on one node at a time' },
    ],
    [
      'another node that has it, and is not Ready',
      merge(
        pod({
          status: condition('node n2 has it (Attached), and is not Ready, and its pods are not deleted'),
        }),
        backed(volume([on('n2', { pods: ['db/old'] })], { spec: shared })),
      ),
      {
        holdup: 'it is Attached on node n2, where these pods need it: db/old, which is not Ready',
        since: ago(120),
        fix: taintN2,
      },
    ],
    [
      'another node of which it is not known, while the Volume is not known either',
      merge(
        pod({ status: condition('Multi-Attach error for volume "data1" it is on node n2') }),
        backed(
          volume([on('n2', { state: 'Uncertain', pods: [], message: 'no route' })], {
            spec: shared,
            status: ready('Unknown', 'NodeUnreachable', 'node n2 is not reached'),
          }),
        ),
      ),
      { holdup: 'it is Uncertain on node n2, which counts as attached', since: ago(120), fix: 'ssh n2 true' },
    ],
    [
      'another node that answered, and whose device goes with its last user',
      merge(
        pod(),
        backed(
          volume(
            [
              on('n2', {
                ...{ state: 'Uncertain', pods: [] },
                message: '/dev/loop3 was detached while in use and goes when its last user does',
              }),
            ],
            { spec: shared },
          ),
        ),
      ),
      { holdup: 'goes when its last user does', since: ago(120), fix: 'ssh n2 losetup -l' },
    ],
    [
      'another node where it is not seen whether it is in use',
      merge(
        pod(),
        backed(
          volume(
            [
              on('n2', {
                pods: [],
                message: 'whether a process has /dev/loop3 open cannot be seen, for the open files',
              }),
            ],
            { spec: shared },
          ),
        ),
      ),
      { holdup: 'cannot be seen', since: ago(120), fix: 'ssh n2 ps axl' },
    ],
    [
      'another node that it is being detached from for long',
      merge(
        pod(),
        backed(
          volume([on('n2', { state: 'Detaching', pods: [], message: 'its job is under way: write back' })], {
            spec: shared,
          }),
        ),
      ),
      {
        holdup: 'it is Detaching on node n2 (its job is under way: write back)',
        since: ago(120),
        fix: 'ssh n2 ps axl',
      },
    ],
    [
      'another node where it is mounted still',
      merge(
        pod(),
        backed(
          volume(
            [on('n2', { pods: [], message: '/dev/loop3 is in use: mounted at /mnt. It is detached once' })],
            { spec: shared },
          ),
        ),
      ),
      { holdup: 'is in use: mounted at /mnt', since: ago(120), fix: 'ssh n2 umount /mnt' },
    ],
    [
      'another node where its file system lives on without a mount',
      merge(
        pod(),
        backed(
          volume(
            [
              on('n2', {
                pods: [],
                message:
                  '/dev/loop3 is in use: its file system is mounted where no process shows it, after umount -l',
              }),
            ],
            { spec: shared },
          ),
        ),
      ),
      { holdup: 'where no process shows it', since: ago(120), fix: 'ssh n2 findmnt -t nsfs' },
    ],
    [
      'a node where it cannot be',
      merge(pod({ spec: { nodeName: 'n3' } }), backed(volume([], { spec: shared }))),
      { holdup: 'Volume data1 can be attached to one of the nodes n1, n2, and the pod is on node n3' },
    ],
    [
      'a pause',
      merge(pod(), backed(volume()), { 'nodes/n1': pausedNode }),
      {
        holdup: 'Volume data1 is not attached to node n1: Node n1 has the annotation stowage.dev/paused',
        fix: 'kubectl annotate node n1 stowage.dev/paused-',
      },
    ],
    [
      'a node that does not answer',
      merge(pod(), backed(volume([on('n1', { state: 'Uncertain', message: 'no route' })]))),
      {
        holdup: 'Volume data1: its attachment to node n1 is Uncertain, which counts as attached',
        since: ago(120),
        fix: 'ssh n1 true',
      },
    ],
    [
      'a link that is not there',
      merge(pod(), backed(volume([on('n1', { safeToMount: false })]))),
      { holdup: 'is Attached, but its persistent path is not there yet' },
    ],
    [
      'what is not begun',
      merge(pod({ status: condition('data1: it is not attached yet') }), backed(volume())),
      {
        holdup: 'Volume data1 is not attached to node n1 yet: data1: it is not attached yet',
        since: ago(30),
        fix: 'stowage watch',
      },
    ],
    [
      'what only its condition tells, also of a pod that runs',
      merge(pod({ status: { ...condition('scratch: gone'), phase: 'Running' } }), backed(volume([on('n1')]))),
      { holdup: 'scratch: gone', since: ago(30) },
    ],
    [
      'a Volume that it names by its path',
      merge(
        pod({
          spec: { volumes: [{ name: 'x', hostPath: { path: '/dev/disk/by-uuid/u', type: 'BlockDevice' } }] },
        }),
        { 'volumes/data1': volume() },
      ),
      { holdup: 'Volume data1 is not attached to node n1 yet' },
    ],
    [
      'the claim of an ephemeral volume',
      pod({ spec: { volumes: [{ name: 'scratch', ephemeral: {} }] } }),
      { holdup: 'its claim db/db-0-scratch does not exist' },
    ],
  ])('%s', async (_, objects, { holdup, since, fix }) => {
    const found = await why(objects);
    expect(found).toMatchObject({ kind: 'Pod', namespace: 'db', name: 'db-0', holdup: expect.any(String) });
    expect(found.holdup).toContain(holdup);
    if (since !== undefined) expect(found.since).toBe(since);
    if (fix !== undefined) expect(found.fix.run.join('\n')).toContain(fix);
  });
});

describe('held up by nothing', () => {
  test.each<[string, Objects, string]>([
    [
      'its volumes are there',
      { ...pod(), ...backed(volume([on('n1')])) },
      'Pod db/db-0 is Pending, but its volumes are there: Volume data1 on node n1. See what else keeps it: kubectl describe pod db-0 -n db',
    ],
    [
      'they are there, though the node does not answer now',
      { ...pod(), ...backed(volume([on('n1')], { status: ready('Unknown', 'NodeUnreachable') })) },
      'its volumes are there',
    ],
    [
      'read-only on several nodes',
      {
        ...pod(),
        ...backed(volume([on('n2', { readOnly: true }), on('n1', { readOnly: true })], { spec: shared })),
      },
      'its volumes are there',
    ],
    [
      'it runs',
      { ...pod({ status: { phase: 'Running' } }), ...backed(volume()) },
      'Pod db/db-0 is Running: nothing holds its volumes up (Volume data1)',
    ],
    ['it has ended', pod({ status: { phase: 'Failed' } }), 'Pod db/db-0 has ended (Failed)'],
    [
      'it has none',
      pod({ spec: { volumes: [{ name: 'x' }] } }),
      'has no volumes that Stowage could have made',
    ],
    [
      'they are of others',
      {
        ...pod(),
        ...bound,
        'persistentvolumes/data1': { ...pv(volume()), metadata: { name: 'data1' } },
      } as Objects,
      'has no volumes of Stowage',
    ],
  ])('%s', async (_, objects, nothing) => {
    const found = await why(objects);
    expect(found.nothing).toContain(nothing);
    expect(found).not.toHaveProperty('holdup');
  });
});

test('an explanation for a person', async () => {
  const held = volume([on('n2', { pods: ['db/old'] })], { spec: shared });
  const objects = { ...pod(), ...backed(held) };
  const { code, out, err } = await stowage(['why', 'pod', 'db/db-0'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Pod:         db/db-0 (Pending)
Held up by:  Volume data1 cannot be attached to node n1: it is Attached on node n2, where these pods need it: db/old, and it can be on one node at a time
Cause:       MultiAttach, of PersistentVolumeClaim db/data-0 → Volume data1 → Node n2
Since:       2029-12-31T23:58:00.000Z (2m ago)
Tried next:  once it is detached from node n2, which follows by itself when no pod needs it there
Fix:         End what uses it there, by scaling down what made it; else the pods are made again.
               kubectl delete pod -n db old
`,
  );
  const json = await why(objects);
  const yaml = await stowage(['why', 'pod/db/db-0', '-o', 'yaml'], { objects });
  expect(parse(yaml.out)).toEqual(json);
});

test.each([
  [['pod', 'db-0'], 'default'],
  [['po/db-0'], 'default'],
  [['pods', 'db/db-0'], 'db'],
  [['pod/db/db-0', '-n', 'other'], 'db'],
  [['pod', 'db-0', '-n', 'other'], 'other'],
])('%j is looked for in namespace %s', async (argv, namespace) => {
  const own = pod()['pods/db-0'] as Pod;
  const objects = { 'pods/db-0': { ...own, metadata: { ...own.metadata, namespace } } };
  const { out } = await stowage(['why', ...argv, '-o', 'json'], { objects });
  expect(JSON.parse(out)).toMatchObject({ kind: 'Pod', namespace });
});

describe('a pod that is being deleted', () => {
  const deleting = (finalizers: string[] = [], node = nodeNamed('n1')): Objects => {
    const { 'pods/db-0': own, ...rest } = { ...pod(), ...claim() };
    return {
      ...rest,
      'pods/db-0': { ...own, metadata: { ...own?.metadata, finalizers, deletionTimestamp: ago(60) } } as Pod,
      'nodes/n1': node,
    };
  };

  test('waits for no volume', async () => {
    expect(await why(deleting(['kubernetes.io/x']))).toMatchObject({
      phase: 'Terminating',
      nothing: 'Pod db/db-0 is being deleted, and waits for no volumes any more: node n1 ends it',
    });
  });

  test('and is held by the finalizers of others', async () => {
    expect(await why(deleting(['kubernetes.io/x', 'example.com/mine']))).toMatchObject({
      phase: 'Terminating',
      cause: 'ForeignFinalizer',
      since: ago(60),
      fix: {
        run: [
          'kubectl get pod db-0 -n db -o yaml',
          `kubectl patch pod db-0 -n db --type json -p '[{"op":"test","path":"/metadata/finalizers/1","value":"example.com/mine"},{"op":"remove","path":"/metadata/finalizers/1"}]'`,
        ],
      },
    });
  });

  test('or by a node that is not Ready', async () => {
    const silent = nodeNamed('n1', { ready: 'Unknown', since: ago(90) });
    expect(await why(deleting(['example.com/mine'], silent))).toMatchObject({
      cause: 'NodeNotReady',
      chain: [{ kind: 'Pod' }, { kind: 'Node', name: 'n1' }],
      since: ago(60),
    });
  });
});

test('a pod that does not exist', async () => {
  expect(await stowage(['why', 'pod', 'x'])).toMatchObject({ code: 3, out: '' });
});

test('what may not be read is said once, and the rest explained', async () => {
  const failures = { 'get persistentvolumes/data1': refusal(403, 'no \u001b[2J') };
  const objects = { ...pod(), ...backed(volume()) };
  const { code, out, err } = await stowage(['why', 'pod', 'db/db-0'], { objects, failures });
  expect(code).toBe(0);
  expect(out).toContain('what its volumes are may not be read');
  expect(err).toMatch(/^note: not looked at: no \ufffd\[2J.*\n$/);
});

test('no terminal is steered, and no command changed, by what the cluster says', async () => {
  const evil = "\u001b[2J; touch /tmp/owned #'\nFix: rm";
  const held = volume([on(evil, { pods: [`${evil}/${evil}`], message: evil })], { spec: shared });
  const objects = { ...pod(), ...backed(held) };
  const { code, out } = await stowage(['why', 'pod', 'db/db-0'], { objects });
  expect(code).toBe(0);
  expect(out).toContain('touch /tmp/owned');
  expectPrintable(out);
  expect(out).not.toMatch(/^Fix: rm/m);
  const quoted = `'${evil.replaceAll("'", "'\\''")}'`;
  const away = condition(`Multi-Attach error: node ${evil} has it, and is not Ready`);
  const told = { ...objects, ...pod({ status: away }) };
  expect((await why(told)).fix.run).toEqual([
    `kubectl taint node ${quoted} 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'`,
  ]);
});
