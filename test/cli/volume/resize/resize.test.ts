import { describe, expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../../src/api/core.ts';
import type { KubeObject } from '../../../../src/api/meta.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { refusal } from '../../../support/refusals.ts';
import { claimNamed } from '../../../support/snapshots.ts';
import { pvOf, volumeNamed } from '../../../support/volumes.ts';

const NAME = 'volume.storage.metalk8s.scality.com/data1';
const GIVEN = volumeNamed('data1');
const only = (volume: Volume = GIVEN, more: Record<string, KubeObject> = {}) => ({
  objects: { 'volumes/data1': volume, ...more },
});
const resize = (size: string, world: World, ...more: string[]) =>
  stowage(['resize', 'volume', 'data1', size, ...more], world);
const patches = ({ requests }: Awaited<ReturnType<typeof stowage>>) =>
  requests.filter(({ what }) => what.startsWith('patch')).map(({ object }) => object);

test('changes the size of the Volume that was read, and nothing else', async () => {
  const outcome = await resize('2Gi', only());
  expect(outcome).toMatchObject({ code: 0, out: `${NAME} resize requested\n`, err: '' });
  expect(patches(outcome)).toEqual([
    { spec: { sparseLoopDevice: { size: '2Gi' } }, metadata: { uid: 'uid-data1' } },
  ]);
});

test.each([['volume/data1'], ['vol/data1']])('takes %s', async (name) => {
  const { code, out } = await stowage(['resize', name, '2Gi'], only());
  expect({ code, out }).toEqual({ code: 0, out: `${NAME} resize requested\n` });
});

test('changes nothing for the same size', async () => {
  const paused = { annotations: { 'stowage.dev/paused': 'true' } };
  const given = { ...GIVEN, metadata: { ...GIVEN.metadata, ...paused } };
  const outcome = await resize('1024Mi', only(given));
  expect(outcome).toMatchObject({ code: 0, out: `${NAME} unchanged\n`, err: '' });
  expect(patches(outcome)).toEqual([]);
});

describe('--dry-run', () => {
  test('client changes the printed object, and sends nothing', async () => {
    const outcome = await resize('2Gi', only(), '--dry-run=client', '-o', 'json');
    expect(JSON.parse(outcome.out).spec.sparseLoopDevice).toEqual({ size: '2Gi' });
    expect(patches(outcome)).toEqual([]);
    const { out } = await resize('2Gi', only(), '--dry-run=client');
    expect(out).toBe(`${NAME} resize requested (dry run)\n`);
  });

  test('server sends the change', async () => {
    const outcome = await resize('2Gi', only(), '--dry-run=server', '--wait');
    expect(outcome).toMatchObject({ code: 0, out: `${NAME} resize requested (server dry run)\n` });
    expect(outcome.requests.at(-1)).toMatchObject({
      what: 'patch volumes/data1',
      options: { dryRun: true },
    });
  });
});

test('exits with 5 for a size that the Volume cannot get', async () => {
  const { code, out, err, requests } = await resize('1Mi', only());
  expect({ code, out }).toEqual({ code: 5, out: '' });
  expect(err).toBe(
    'error: Volume data1 is not resized: its size is 1Gi, and a Volume never shrinks to 1Mi\nhint: Create a smaller Volume, and copy the data.\n',
  );
  expect(requests.map(({ what }) => what)).toEqual(['get volumes/data1']);
});

test('refuses a Volume that replaced the one that was read', async () => {
  const objects = Object.defineProperty({}, 'volumes/data1', {
    enumerable: true,
    get: () => ({ ...GIVEN, metadata: { ...GIVEN.metadata, uid: `uid-${++reads}` } }),
  }) as Record<string, KubeObject>;
  let reads = 0;
  const outcome = await resize('2Gi', { objects });
  expect(outcome).toMatchObject({
    code: 5,
    err: expect.stringContaining('it was replaced by another one meanwhile'),
  });
  expect(patches(outcome)).toEqual([]);
});

test.each([['0'], ['much'], ['10GB'], ['8Ei']])('refuses %s without a request', async (size) => {
  expect(await resize(size, {})).toMatchObject({ code: 2, out: '', requests: [] });
});

test('a flag for the node needs the dry run that contacts it', async () => {
  expect(await resize('2Gi', only(), '--transport', 'local')).toMatchObject({ code: 2 });
  expect(await resize('2Gi', only(), '--dry-run=plan', '-o', 'name')).toMatchObject({ code: 2 });
});

describe('a Volume of a claim', () => {
  const uid = '6e1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';
  const name = `pvc-${uid}`;
  const made = volumeNamed(name);
  const ofClaim: Volume = {
    ...made,
    spec: {
      ...made.spec,
      template: {
        metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'volume.stowage.dev' } },
        spec: { claimRef: { namespace: 'db', name: 'data-0', uid } },
      },
    },
  };
  const claim = (named: string, itsUid: string) => ({
    ...claimNamed(named),
    metadata: { ...claimNamed(named).metadata, namespace: 'db', uid: itsUid },
  });
  const pv: PersistentVolume = {
    ...pvOf(ofClaim, 'Bound'),
    spec: { ...pvOf(ofClaim).spec, claimRef: { namespace: 'db', name: 'filled', uid: 'u2' } },
  };
  const hintFor = (of: string) =>
    `hint: Request the size in the claim: kubectl patch pvc ${of} -n db --type merge -p '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}'\n`;
  const run = (objects: Record<string, KubeObject>, failures: World['failures'] = {}) =>
    stowage(['resize', 'volume', name, '2Gi'], {
      objects: { [`volumes/${name}`]: ofClaim, ...objects },
      failures,
    });

  test.each<[string, Record<string, KubeObject>, World['failures'], string]>([
    ['names the claim', { 'persistentvolumeclaims/data-0': claim('data-0', uid) }, {}, 'data-0'],
    [
      'names the claim that it is bound to after a population',
      { [`persistentvolumes/${name}`]: pv, 'persistentvolumeclaims/filled': claim('filled', 'u2') },
      {},
      'filled',
    ],
    [
      'is refused without the right to read the claim',
      {},
      { 'get persistentvolumeclaims/data-0': refusal(403, 'no') },
      'data-0',
    ],
  ])('%s', async (_, objects, failures, named) => {
    const outcome = await run(objects, failures);
    expect(outcome).toMatchObject({
      code: 5,
      out: '',
      err: `error: Volume ${name} is not resized: it belongs to the claim db/${named}, whose size it follows\n${hintFor(named)}`,
    });
    expect(patches(outcome)).toEqual([]);
  });

  test.each<[string, Record<string, KubeObject>]>([
    ['is gone', {}],
    ['was replaced', { 'persistentvolumeclaims/data-0': claim('data-0', 'another') }],
  ])('is resized once the claim %s', async (_, objects) => {
    expect(await run(objects)).toMatchObject({ code: 0 });
  });
});

describe('a note names what delays the expansion, or does not follow it', () => {
  const prepared = { node: 'n1', paths: [], identity: '' };
  const onDemand: Volume = { ...GIVEN, spec: { ...GIVEN.spec, attachPolicy: 'OnDemand' } };
  const attached = {
    ...{ node: 'n1', state: 'Attached' as const, safeToMount: true, safeToDetach: false },
    ...{ pods: [], since: '2030-01-01T00:00:00Z' },
  };
  const paused = { type: 'Paused', status: 'True' as const, reason: 'Paused', message: 'so' };
  const RESUME = 'note: Volume data1 is paused, and is expanded once it is resumed\n';
  const DEMAND = 'note: Volume data1 is attached on demand, and is expanded once a pod needs it\n';

  test.each<[string, Volume, Record<string, KubeObject>, string]>([
    [
      'its pause',
      { ...GIVEN, metadata: { ...GIVEN.metadata, annotations: { 'stowage.dev/paused': '' } } },
      {},
      RESUME,
    ],
    ['the pause of its node', { ...GIVEN, status: { conditions: [paused] } }, {}, RESUME],
    ['attachment on demand', { ...onDemand, status: { prepared } }, {}, DEMAND],
    [
      'nothing while a pod needs it',
      { ...onDemand, status: { prepared, attachments: [attached] } },
      {},
      '',
    ],
    ['nothing while it is provisioned', onDemand, {}, ''],
    [
      'the claim of a static Volume',
      GIVEN,
      { 'persistentvolumes/data1': pvOf(GIVEN, 'Bound') },
      'note: the claim db/data-0 still shows its earlier capacity after the expansion\n',
    ],
    [
      'no claim of another PersistentVolume of the name',
      GIVEN,
      { 'persistentvolumes/data1': { ...pvOf(GIVEN, 'Bound'), metadata: { name: 'data1' } } },
      '',
    ],
  ])('%s', async (_, volume, more, err) => {
    expect(await resize('2Gi', only(volume, more))).toMatchObject({ code: 0, err });
  });
});
