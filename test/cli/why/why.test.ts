import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/api/meta.ts';
import { DRIVER, PROTECTION_FINALIZER, PROVISIONED_BY_ANNOTATION } from '../../../src/api/names.ts';
import { type Explanation, explain, reason } from '../../../src/api/reasons.ts';
import type { Condition } from '../../../src/api/volume.ts';
import type { Blocker } from '../../../src/cli/why/types.ts';
import { diagnosedIn } from '../../../src/cli/why/why.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';

const failed = volumeNamed('data1', {
  phase: 'Failed',
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'CreationError',
      message: 'the storage class fast does not exist',
      lastTransitionTime: '2029-12-31T23:57:00Z',
    },
  ],
});
const objects: Record<string, KubeObject> = { 'volumes/data1': failed };

test('why volume prints an explanation as text', async () => {
  const { code, out, err } = await stowage(['why', 'volume', 'data1'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    `Volume:      data1 (Failed)
Blocked by:  its storage class fast does not exist
Cause:       StorageClassMissing
Since:       2029-12-31T23:57:00Z (3m ago)
Next try:    when it is retried, or its spec is changed
Fix:         Create the class. Then retry the Volume.
               stowage create storageclass fast --static
               stowage retry volume data1
`,
  );
});

test('the commands of a fix have the connection flags of why', async () => {
  const argv = ['why', 'volume', 'data1', '-o', 'json', '--context', "it's", '--kubeconfig=/k c'];
  const { out } = await stowage(argv, { objects });
  expect(JSON.parse(out).fix.run).toEqual([
    `stowage --kubeconfig '/k c' --context 'it'\\''s' create storageclass fast --static`,
    `stowage --kubeconfig '/k c' --context 'it'\\''s' retry volume data1`,
  ]);
});

test('the texts of fixes have the connection flags of why', () => {
  const fix = { say: 'Delete it: stowage delete volume a', run: ['stowage retry volume b'] };
  const there = {
    say: 'Delete it: stowage --context c delete volume a',
    run: ['stowage --context c retry volume b'],
  };
  const diagnosis: Blocker = { cause: 'Failed', holdup: 'x', fix, sharedFix: fix };
  const flags = { context: 'c', color: false };
  expect(diagnosedIn(flags, diagnosis)).toEqual({ ...diagnosis, fix: there, sharedFix: there });
  expect(diagnosedIn({ color: false }, diagnosis)).toEqual(diagnosis);
});

const told = (status: 'Unknown' | 'False', reason: string, why: Explanation) => ({
  conditions: [{ type: 'Ready', status, reason, ...why } as Condition],
});

test('why -o json contains the reason that led to the cause', async () => {
  const why = reason('HostKeyUnknown', { node: 'n1' });
  const status = told('Unknown', 'NodeUnreachable', explain('HostKeyUnknown', { node: 'n1' }));
  const { out } = await stowage(['why', 'volume', 'data1', '-o', 'json'], {
    objects: { 'volumes/data1': volumeNamed('data1', { phase: 'Available', ...status }) },
  });
  expect(JSON.parse(out)).toMatchObject({ cause: 'HostKeyUnknown', reason: why });
});

test.each([
  ['Failed', 'UnavailableError'],
  ['Failed', 'CreationError'],
] as const)('why reports UnknownReason for an unknown code: %s, %s', async (phase, shown) => {
  const detail = { code: 'OfALaterVersion', parameters: {} };
  const status = told('False', shown, { message: 'it broke', detail });
  const { out } = await stowage(['why', 'volume', 'data1', '-o', 'json'], {
    objects: {
      'volumes/data1': volumeNamed('data1', { phase, ...status }),
      'storageclasses/fast': classNamed('fast'),
    },
  });
  expect(JSON.parse(out)).toMatchObject({ cause: 'UnknownReason', holdup: 'it broke' });
});

test('why volume prints the time of the next attempt', async () => {
  const waiting = volumeNamed('data1', {
    phase: 'Pending',
    job: 'PrepareVolume/5',
    attempt: 5,
    conditions: [
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'Pending',
        message: 'attempt 4 ended early: x',
        detail: reason('AttemptEnded', { attempt: 4 }),
        lastUpdateTime: '2029-12-31T23:59:57Z',
      },
    ],
  });
  const { out } = await stowage(['why', 'volume', 'data1'], {
    objects: { 'volumes/data1': waiting },
  });
  expect(out).toContain('Next try:    2030-01-01T00:00:05.000Z (in 5s)\n');
});

test('why volume prints JSON and YAML', async () => {
  const json = JSON.parse((await stowage(['why', 'vol', 'data1', '-o', 'json'], { objects })).out);
  expect(json).toMatchObject({
    kind: 'Volume',
    name: 'data1',
    phase: 'Failed',
    holdup: 'its storage class fast does not exist',
    since: '2029-12-31T23:57:00Z',
    next: { when: 'when it is retried, or its spec is changed' },
    fix: {
      run: ['stowage create storageclass fast --static', 'stowage retry volume data1'],
    },
  });
  expect(parse((await stowage(['why', 'vol', 'data1', '-o', 'yaml'], { objects })).out)).toEqual(
    json,
  );
});

test('why volume reports that nothing holds up an Available Volume', async () => {
  const volume = volumeNamed('data1', { phase: 'Available', ...ready('True', 'Available') });
  const world = { 'volumes/data1': volume, 'persistentvolumes/data1': pvOf(volume, 'Available') };
  expect(await stowage(['why', 'volume/data1'], { objects: world })).toMatchObject({
    code: 0,
    out: 'Volume data1 is Available: nothing holds it up; no claim is bound to it yet\n',
    err: '',
  });
});

test('why volume prints how to use a Released one again, in the same cluster', async () => {
  const volume = volumeNamed('data1', { phase: 'Available', ...ready('True', 'Available') });
  const pv = pvOf(volume, 'Released');
  const claimRef = { namespace: 'db', name: 'data-0', uid: 'uid-earlier' };
  const world = {
    'volumes/data1': volume,
    'persistentvolumes/data1': { ...pv, spec: { ...pv.spec, claimRef } },
  };
  const argv = ['why', 'volume/data1', '--context', 'test'];
  expect((await stowage(argv, { objects: world })).out).toMatch(
    /no other claim binds to it\nTo use data1 again, .*\n {2}kubectl --context test patch pv data1 /,
  );
  const { fix } = JSON.parse((await stowage([...argv, '-o', 'json'], { objects: world })).out);
  // The command gives data away: scripts that apply fixes must not run it.
  expect(fix).toEqual({ say: expect.any(String), run: [expect.any(String)] });
});

describe('the arguments of why', () => {
  test.each([
    [['volume', 'data1']],
    [['volumes', 'data1']],
    [['vol', 'data1']],
    [['volume/data1']],
    [['volumes/data1']],
    [['vol/data1']],
  ])('%j name the Volume', async (argv) => {
    const { code, out } = await stowage(['why', ...argv], { objects });
    expect(code).toBe(0);
    expect(out).toContain('data1 (Failed)');
  });

  test.each([
    [['pvc'], 'A name of a PersistentVolumeClaim'],
    [['pvc', '../x'], 'not a valid name of a PersistentVolumeClaim'],
    [['snapshot', 'a/b/c'], 'A name of a VolumeSnapshot'],
    [['pod'], 'A name of a Pod'],
    [['pod/db/a', 'b'], 'but not "b"'],
    [['pod/db/a', 'pod'], 'A name of a Pod'],
    [['pod/a/b/c'], 'A name of a Pod'],
    [['pod', 'db/../x'], 'A name of a Pod'],
    [['pod', '../x'], 'not a valid name of a Pod'],
    [['pod', 'Db/x'], 'not a valid name of a Pod'],
    [['namespace', 'x'], 'but not "namespace"'],
    [['node', 'a/b'], 'not a valid name of a Node'],
    [['data1'], 'but not "data1"'],
    [['volume'], 'A name of a Volume is required'],
    [['vol/a/b'], 'A name of a Volume is required'],
    [['volume/'], 'not a valid name of a Volume'],
    [['volume', '../pods'], 'not a valid name of a Volume'],
    [['volume', 'a', 'pvc/b'], 'not a valid name of a Volume'],
    [
      [],
      "missing required argument 'kind'\nhint: Name an object, such as volume/NAME, or list all that is blocked: stowage why --all\n",
    ],
  ])('%j is wrong usage', async (argv, message) => {
    const { code, out, err, requests } = await stowage(['why', ...argv], { objects });
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
    expect(err).toContain(message);
  });
});

describe('why for several objects', () => {
  const two = {
    ...objects,
    'volumes/data2': { ...failed, metadata: { ...failed.metadata, name: 'data2' } },
  };

  test.each([
    [['volume', 'data1', 'data2']],
    [['volume/data1', 'vol/data2']],
    [['volumes.storage.metalk8s.scality.com/data1', 'volume/data2']],
  ])('explains each of %j', async (argv) => {
    const { code, out, err } = await stowage(['why', ...argv], { objects: two });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.match(/^Volume: .*/gm)).toEqual([
      'Volume:      data1 (Failed)',
      'Volume:      data2 (Failed)',
    ]);
    expect(out).toMatch(/retry volume data1\n\nVolume: /);
  });

  test('prints a list with -o json', async () => {
    const argv = ['why', 'volume', 'data1', 'data2', '-o', 'json'];
    const { out } = await stowage(argv, { objects: two });
    expect(JSON.parse(out)).toMatchObject({ items: [{ name: 'data1' }, { name: 'data2' }] });
  });

  test('explains the existing objects if one does not exist', async () => {
    const argv = ['why', 'volume', 'data3', 'data1', '-o', 'json'];
    const { code, out, err } = await stowage(argv, { objects: two });
    expect(code).toBe(7);
    expect(JSON.parse(out)).toMatchObject({ items: [{ name: 'data1' }] });
    expect(err).toContain('data3');
  });

  test('prints each note once', async () => {
    const { err } = await stowage(['why', 'volume', 'data1', 'data2'], {
      objects: two,
      failures: { 'get nodes/n1': refused(403) },
    });
    expect(err.match(/not checked/g)).toHaveLength(1);
  });
});

test('a missing class is explained with the existing ones', async () => {
  const withClasses = (...names: string[]) => ({
    ...objects,
    ...Object.fromEntries(names.map((name) => [`storageclasses/${name}`, classNamed(name)])),
  });
  const say = async (world: World) =>
    JSON.parse((await stowage(['why', 'volume/data1', '-o', 'json'], world)).out).fix.say;
  expect(await say({ objects: withClasses('fsat', 'slow') })).toBe(
    'Create the class. Then retry the Volume. Or create the Volume again with another class (existing: fsat, slow).',
  );
  expect(await say({ objects: withClasses('gold', 'slow') })).toContain('(existing: gold, slow)');
  const failures = { 'list storageclasses/*': refused(403) };
  expect(await say({ objects: withClasses('slow'), failures })).toBe(
    'Create the class. Then retry the Volume.',
  );
});

test('why volume exits with 3 for a missing Volume', async () => {
  expect(await stowage(['why', 'volume', 'x'])).toMatchObject({ code: 3, out: '' });
});

const refused = (code: number) =>
  refusal(code, 'nodes "n1" is forbidden: User "\u001b[2Jme" cannot get it', { code });

test('reports what may not be read, and explains the rest', async () => {
  const { code, out, err } = await stowage(['why', 'volume', 'data1'], {
    objects,
    failures: { 'get nodes/n1': refused(403) },
  });
  expect(code).toBe(0);
  expect(out).toContain('its storage class fast does not exist');
  expect(err).toBe(
    'note: not checked: nodes "n1" is forbidden: User "\ufffd[2Jme" cannot get it\n',
  );
});

test('why volume exits with 1 if the server fails', async () => {
  const world = { objects, failures: { 'get nodes/n1': refused(500) } };
  expect(await stowage(['why', 'volume', 'data1'], world)).toMatchObject({ code: 1, out: '' });
});

test('prints hostile text without control characters, and quotes it in commands', async () => {
  const evil = "\u001b[2J\u009b; touch /tmp/owned #'\nFix: rm";
  const deleting = {
    ...volumeNamed('data1', {
      phase: 'Failed',
      ...ready('False', 'DestructionError', evil),
    }),
  };
  deleting.metadata.deletionTimestamp = '2029-12-31T23:00:00Z';
  deleting.metadata.finalizers = [PROTECTION_FINALIZER];
  const signed = volumeNamed('b', {
    phase: 'Failed',
    conditions: [
      {
        ...{ type: 'Ready', status: 'False', reason: 'CreationError' },
        ...explain('DeviceCarriesData', { device: evil, content: evil, overwrite: evil }),
      },
    ],
  });
  const unreachable = volumeNamed('c', {
    phase: 'Failed',
    ...ready('Unknown', 'NodeUnreachable', evil),
    prepared: { node: evil, paths: [], identity: '' },
  });
  const classy = { ...failed, spec: { ...failed.spec, storageClassName: evil } };
  const world = {
    objects: {
      'volumes/a': deleting,
      'volumes/b': signed,
      'volumes/c': unreachable,
      'volumes/d': classy,
      'storageclasses/fast': {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'fast' },
      },
    },
  };
  for (const name of ['a', 'b', 'c', 'd']) {
    for (const flags of [[], ['-o', 'json'], ['-o', 'yaml']]) {
      const { code, out, requests } = await stowage(['why', 'volume', name, ...flags], world);
      expect(code).toBe(0);
      expect(out).toContain('touch /tmp/owned');
      expectPrintable(out);
      // A line that looks like output of the command must be its output.
      expect(out).not.toMatch(/^Fix: rm/m);
      expect(JSON.stringify(requests)).not.toContain('touch');
    }
  }
  const { out } = await stowage(['why', 'volume', 'b', '-o', 'json'], world);
  // JSON escapes the line break and the quote. The shell syntax closes and reopens the quote.
  expect(JSON.parse(out).fix.run).toEqual([
    `kubectl patch volume b --type merge -p '${JSON.stringify({ spec: { overwrite: evil } }).replaceAll("'", "'\\''")}'`,
  ]);
  const node = await stowage(['why', 'volume', 'c', '-o', 'json'], world);
  expect(JSON.parse(node.out).holdup).toContain('touch');
});

describe('why volume reads the objects that its fix deletes by name', () => {
  const status = (why: Explanation) => ({
    phase: 'Failed' as const,
    ...told('False', 'CreationError', why),
  });
  const small = explain('FileSystemTooSmall', {
    ...{ type: 'xfs', needed: 314_572_800, size: '300Mi', bytes: 67_108_864 },
  });
  const ofClaim = volumeNamed('pvc-u1', status(small));
  const claimed = {
    ...ofClaim,
    spec: {
      ...ofClaim.spec,
      template: {
        metadata: { annotations: { [PROVISIONED_BY_ANNOTATION]: DRIVER } },
        spec: { claimRef: { namespace: 'db', name: 'data', uid: 'u1' } },
      },
    },
  };
  const claim = (uid: string) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'db', uid },
    spec: {},
  });
  const ask = async (name: string, world: World) => {
    const { out, err } = await stowage(['why', 'volume', name, '-o', 'json'], world);
    return { run: JSON.parse(out).fix.run as string[] | undefined, err };
  };
  const nodes = { 'storageclasses/fast': classNamed('fast'), 'nodes/n1': nodeNamed('n1') };
  const GET = 'get persistentvolumeclaims/data';

  test.each<[string, KubeObject[], string | undefined]>([
    ['the claim of the Volume', [claim('u1')], 'kubectl delete -n db pvc data'],
    ['a recreated claim', [claim('u2')], 'stowage delete volume pvc-u1'],
    ['no claim', [], 'stowage delete volume pvc-u1'],
  ])('%s', async (_, [found], expected) => {
    const key = 'persistentvolumeclaims/data';
    const objects = { ...nodes, 'volumes/pvc-u1': claimed, ...(found && { [key]: found }) };
    const { run } = await ask('pvc-u1', { objects });
    expect(run?.filter((line) => line.includes(' delete '))).toEqual([expected]);
  });

  test('the claim that a prime claim is for', async () => {
    const target = '0f3c2f3e-7c4e-4a56-9f0e-5f3a1c2b4d6e';
    const [name, namespace] = [`prime-${target}`, 'stowage'];
    const claimRef = { namespace, name, uid: 'u1' };
    const template = { ...claimed.spec.template, spec: { claimRef } };
    const annotations = { 'stowage.dev/populates': 'db/data' };
    const objects = {
      ...nodes,
      'volumes/pvc-u1': { ...claimed, spec: { ...claimed.spec, template } },
      [`persistentvolumeclaims/${name}`]: {
        ...claim('u1'),
        metadata: { name, namespace, uid: 'u1', annotations },
      },
      'persistentvolumeclaims/data': claim(target),
    };
    const { out } = await stowage(['why', 'volume', 'pvc-u1'], { objects });
    expect(out).toContain(`Delete claim db/data, which ${name} is for`);
  });

  test('a claim that may not be read', async () => {
    const objects = { ...nodes, 'volumes/pvc-u1': claimed };
    const { run, err } = await ask('pvc-u1', { objects, failures: { [GET]: refusal(403, 'no') } });
    expect({ run, err }).toEqual({ run: undefined, err: 'note: not checked: no\n' });
  });

  test('the Volume that has the device', async () => {
    const taken = status(explain('DeviceOfAnother', { device: '/dev/sdb', volume: 'data0' }));
    const conditions = taken.conditions.map((condition) => ({
      ...condition,
      lastUpdateTime: '2029-12-31T20:00:00Z',
    }));
    const objects = {
      ...nodes,
      'volumes/data1': volumeNamed('data1', { ...taken, conditions }),
      'volumes/data0': volumeNamed('data0'),
    };
    const { run } = await ask('data1', { objects });
    expect(run).toContain('stowage delete volume data0 --wait');
  });
});
