import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../src/api/meta.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';

let folder = '';
let removeFolder = async () => {};
beforeAll(async () => {
  ({ path: folder, remove: removeFolder } = await temporaryFolder('manifests'));
});
afterAll(() => removeFolder());

const volume = (name: string, spec: object = { sparseLoopDevice: { size: '1Gi' } }): KubeObject => ({
  apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
  kind: 'Volume',
  metadata: { name },
  ...({ spec: { nodeName: 'n1', storageClassName: 'local', ...spec } } as object),
});
const documents = (...objects: object[]) => objects.map((object) => stringify(object)).join('---\n');
const create = (text: string, flags: string[] = [], world: World = {}) =>
  stowage(['create', '-f', '-', ...flags], { stdin: text, ...world });
const remove = (text: string, flags: string[] = [], world: World = {}) =>
  stowage(['delete', '-f', '-', ...flags], { stdin: text, ...world });
const created = (name: string) => `volume.storage.metalk8s.scality.com/${name} created\n`;
const whats = ({ requests }: { requests: { what: string }[] }) => requests.map(({ what }) => what);

/** As MetalK8s's manual has it. */
const METALK8S = `apiVersion: storage.metalk8s.scality.com/v1alpha1
kind: Volume
metadata:
  name: prometheus-data
spec:
  nodeName: bootstrap
  storageClassName: metalk8s-prometheus
  sparseLoopDevice:
    size: 10Gi
  template:
    metadata:
      labels:
        app.kubernetes.io/name: 'prometheus-operator-prometheus'
`;

describe('create -f', () => {
  test('has the server refuse what its schema does not know', async () => {
    expect((await create(METALK8S)).requests[0]?.options).toMatchObject({ strict: true });
  });

  test("sends MetalK8s's manifests unchanged", async () => {
    const { code, out, err, requests } = await create(METALK8S);
    expect({ code, out, err }).toEqual({ code: 0, out: created('prometheus-data'), err: '' });
    expect(requests[0]?.object).toEqual({
      apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
      kind: 'Volume',
      metadata: { name: 'prometheus-data' },
      spec: {
        nodeName: 'bootstrap',
        storageClassName: 'metalk8s-prometheus',
        sparseLoopDevice: { size: '10Gi' },
        template: { metadata: { labels: { 'app.kubernetes.io/name': 'prometheus-operator-prometheus' } } },
      },
    });
  });

  test.each<[string, string]>([
    ['several documents', documents(volume('a'), volume('b'))],
    [
      'empty ones between',
      `# first\n---\n---\n${documents(volume('a'))}---\n# nothing\n---\n${documents(volume('b'))}---\n`,
    ],
    ['a List', documents({ apiVersion: 'v1', kind: 'List', items: [volume('a'), volume('b')] })],
    ['JSON', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [volume('a'), volume('b')] })],
    ['lines that end as on Windows', documents(volume('a'), volume('b')).replaceAll('\n', '\r\n')],
    ['a mark of the byte order', `\ufeff${documents(volume('a'), volume('b'))}`],
  ])('takes %s', async (_, text) => {
    expect(await create(text)).toMatchObject({ code: 0, out: created('a') + created('b'), err: '' });
  });

  test('anchors and merges', async () => {
    const { requests } = await create(`${METALK8S}  <<: &more {mode: Filesystem, nodeName: other}\n`);
    expect(requests[0]?.object).toMatchObject({ spec: { mode: 'Filesystem', nodeName: 'bootstrap' } });
  });

  test('several files and a folder, of which manifests are read', async () => {
    const of = join(folder, 'of');
    await mkdir(join(of, 'below.yaml'), { recursive: true });
    for (const name of ['2.yml', '1.yaml', '3.json', 'notes.txt']) {
      await writeFile(join(of, name), JSON.stringify(volume(`v${name[0]}`)));
    }
    await writeFile(join(folder, 'one.yaml'), documents(volume('one')));
    const { out } = await stowage(['create', '-f', join(folder, 'one.yaml'), '--filename', of]);
    expect(out).toBe(['one', 'v1', 'v2', 'v3'].map(created).join(''));
  });

  test('classes come first: a Volume whose class is missing would fail', async () => {
    const outcome = await create(documents(volume('a'), classNamed('local')), ['-o', 'name']);
    expect(whats(outcome)).toEqual(['create storageclasses/local', 'create volumes/a']);
    expect(outcome.out).toBe('storageclass.storage.k8s.io/local\nvolume.storage.metalk8s.scality.com/a\n');
  });

  test('dry runs', async () => {
    expect(await create(METALK8S, ['--dry-run=client'])).toMatchObject({ code: 0, connections: [] });
    const { requests } = await create(METALK8S, ['--dry-run=server']);
    expect(requests).toMatchObject([{ options: { dryRun: true } }]);
  });

  test('--wait waits for the Volumes', async () => {
    const { code, out, err } = await create(documents(classNamed('local'), volume('a')), ['--wait'], {
      events: [
        { type: 'MODIFIED', object: volumeNamed('a', { phase: 'Available', ...ready('True', 'Available') }) },
      ],
    });
    expect({ code, out }).toEqual({
      code: 0,
      out: `storageclass.storage.k8s.io/local created\n${created('a')}`,
    });
    expect(err).toContain('a: Available\n');
  });

  test('each is tried', async () => {
    const failures = { 'create volumes/a': new Error('a is there') };
    expect(await create(documents(volume('a'), volume('b')), [], { failures })).toMatchObject({
      code: 7,
      out: created('b'),
      err: 'error: a is there\nerror: 1 of 2 failed\n',
    });
  });
});

describe('is refused before anything is created, with file and document', () => {
  const good = documents(volume('good'));
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh']
    .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[index]}`)}]\n`)
    .join('')}`;

  test.each<[string, string, string]>([
    [
      'another kind',
      documents({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }),
      'Pod (v1) is not a kind for stowage; StorageClass (storage.k8s.io/v1) and Volume (storage.metalk8s.scality.com/v1alpha1) are',
    ],
    [
      'another version',
      documents({ ...volume('a'), apiVersion: 'storage.metalk8s.scality.com/v1' }),
      'Volume (storage.metalk8s.scality.com/v1) is not a kind',
    ],
    ['no kind', 'a: 1\n', 'apiVersion or kind is missing'],
    ['text', 'hello\n', 'apiVersion or kind is missing'],
    ['a list', '- a\n', 'apiVersion or kind is missing'],
    [
      'a List of another kind',
      documents({ apiVersion: 'v1', kind: 'List', items: [volume('a'), 5] }),
      'item 2: apiVersion or kind is missing',
    ],
    ['a List without items', documents({ apiVersion: 'v1', kind: 'List' }), 'items of a List is missing'],
    [
      'no metadata',
      documents({ ...volume('a'), metadata: undefined }),
      "it must have required property 'metadata'",
    ],
    [
      'no name',
      documents({ ...volume('a'), metadata: { generateName: 'a' } }),
      "metadata must have required property 'name'",
    ],
    [
      'a name of a number',
      documents({ ...volume('a'), metadata: { name: 5 } }),
      'metadata.name must be string',
    ],
    [
      'a name that cannot be',
      documents({ ...volume('a'), metadata: { name: '../pods' } }),
      'a name has lower case',
    ],
    ['no spec', documents({ ...volume('a'), spec: undefined }), "it must have required property 'spec'"],
    ['a spec of null', documents({ ...volume('a'), spec: null }), 'spec must be object'],
    [
      'a directory of a number',
      documents(volume('a', { sparseLoopDevice: { size: '1Gi', directory: 5 } })),
      'spec.sparseLoopDevice.directory must be string',
    ],
    [
      'an unknown mode',
      documents(volume('a', { sparseLoopDevice: { size: '1Gi' }, mode: 'File' })),
      'spec.mode must be equal to one of the allowed values: Filesystem, Block',
    ],
    [
      'labels of numbers',
      documents({ ...volume('a'), metadata: { name: 'a', labels: { 'x/y': 5 } } }),
      'metadata.labels.x/y must be string',
    ],
    [
      'a bad size',
      documents(volume('a', { sparseLoopDevice: { size: '10GB' } })),
      'Volume a: spec.sparseLoopDevice.size is "10GB"',
    ],
    ['no type', documents(volume('a', {})), 'Volume a: volume type not found in Volume Spec'],
    [
      'two types',
      documents(
        volume('a', { sparseLoopDevice: { size: '1Gi' }, rawBlockDevice: { devicePath: '/dev/sdb' } }),
      ),
      'sparseLoopDevice and rawBlockDevice',
    ],
    [
      'a file system of nobody',
      documents(classNamed('c', { parameters: { fsType: 'btrfs' } })),
      'StorageClass c: unsupported filesystem: btrfs',
    ],
    [
      'bad mkfs options',
      documents(classNamed('c', { parameters: { mkfsOptions: '["-U"]' } })),
      'StorageClass c: parameter mkfsOptions',
    ],
    [
      'parameters that are none',
      documents({ ...classNamed('c'), parameters: 'x' }),
      'parameters must be object',
    ],
    [
      'a key twice',
      METALK8S.replace('  nodeName: bootstrap\n', '  nodeName: bootstrap\n  nodeName: other\n'),
      'Map keys must be unique at line 17, column 3',
    ],
    ['what is no YAML', 'a: [\n', 'at line '],
    ['aliases that multiply', bomb, 'Excessive alias count'],
    ['what contains itself', 'a: &a {b: [*a, *a]}\n', 'a.b[0] is an alias of what it is in'],
    ['brackets without end', '['.repeat(100_000), 'Maximum call stack'],
    [
      'a number that a double changes',
      METALK8S.replace('10Gi', '9007199254740993'),
      'spec.sparseLoopDevice.size is 9007199254740993: write a number that large in quotes',
    ],
    ['infinity', METALK8S.replace('10Gi', '.inf'), 'spec.sparseLoopDevice.size is Infinity'],
    ['an unknown tag', METALK8S.replace('10Gi', '!!js/function "f"'), 'Unresolved tag'],
    [
      'bytes',
      METALK8S.replace('10Gi', '!!binary aGk='),
      'spec.sparseLoopDevice.size is of a type that JSON does not have',
    ],
    [
      'documents that nothing separates',
      `${documents(volume('a'))}...\n${documents(volume('b'))}`,
      'several documents without ---',
    ],
    [
      'more than a server takes',
      `# ${'x'.repeat(3 * 1024 * 1024)}\n${documents(volume('a'))}`,
      'it has more than 3145728 bytes',
    ],
  ])('%s', async (_, text, message) => {
    const { code, out, err, requests } = await create(`${good}---\n${text}`);
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
    expect(err).toContain('standard input, document 2');
    expect(err).toContain(message);
  });

  test('reports all problems at once', async () => {
    const { err } = await create(documents(volume('a', {}), volume('good'), volume('b', {})));
    expect(err).toContain('document 1: Volume a: ');
    expect(err).toContain('document 3: Volume b: ');
  });

  test('the same object twice', async () => {
    const { code, err } = await create(documents(volume('a'), volume('b'), volume('a')));
    expect(code).toBe(2);
    expect(err).toContain('document 3: Volume a is in standard input, document 1, too');
  });

  test('keys of all objects are keys of none', async () => {
    const { requests } = await create(`${METALK8S}      annotations: {constructor: a, __proto__: b}\n`);
    expect(JSON.stringify(requests[0]?.object)).toContain(
      '"annotations":{"constructor":"a","__proto__":"b"}',
    );
  });
});

describe('what cannot be read', () => {
  test.each<[string[], string, number]>([
    [['-f', '/nonexistent.yaml'], 'error: /nonexistent.yaml cannot be read: ENOENT', 1],
    [['-f', '-', '-f', '-'], 'Standard input can be read only once', 2],
    [['-f', '-'], 'error: -: there is no object', 2],
    [['-f', '/dev/zero'], '/dev/zero has more than 33554432 bytes', 2],
  ])('%j', async (flags, message, status) => {
    const { code, err, requests } = await stowage(['create', ...flags], { stdin: '# nothing\n' });
    expect({ code, requests }).toEqual({ code: status, requests: [] });
    expect(err).toContain(message);
  });

  test('a folder without manifests, and what is no text', async () => {
    const empty = join(folder, 'empty');
    await mkdir(empty);
    expect((await stowage(['create', '-f', empty])).err).toContain('has no manifests');
    await writeFile(join(folder, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
    expect((await stowage(['create', '-f', join(folder, 'binary')])).err).toContain('is not text in UTF-8');
  });
});

describe('delete -f', () => {
  const available = (name: string) => ({ [`volumes/${name}`]: volumeNamed(name, { phase: 'Available' }) });
  const deleted = (name: string) => `volume.storage.metalk8s.scality.com/${name} deleted\n`;

  test('deletes by kind and name, whatever else is there', async () => {
    const outcome = await remove(
      documents(volume('a', {}), classNamed('local', { parameters: { fsType: 'no' } })),
      [],
      {
        objects: { ...available('a'), 'storageclasses/local': classNamed('local') },
      },
    );
    expect(outcome).toMatchObject({
      code: 0,
      out: `${deleted('a')}storageclass.storage.k8s.io/local deleted\n`,
      err: '',
    });
    expect(outcome.requests.find(({ what }) => what === 'delete volumes/a')?.options).toMatchObject({
      uid: 'uid-a',
    });
  });

  test('goes by the rules of delete volume', async () => {
    const objects = { ...available('a'), 'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound') };
    const { code, err } = await remove(documents(volume('a')), [], { objects });
    expect(code).toBe(5);
    expect(err).toContain('Volume a cannot be deleted: its PersistentVolume is bound to the claim db/data-0');
  });

  test('keeps the class of a Volume that stays, and no other', async () => {
    const stays = { ...volumeNamed('a', { phase: 'Available' }) };
    const objects = {
      'volumes/a': { ...stays, spec: { ...stays.spec, storageClassName: 'local' } },
      'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound'),
      'storageclasses/local': classNamed('local'),
      'storageclasses/other': classNamed('other'),
    };
    const text = documents(volume('a'), classNamed('local'), classNamed('other'));
    const outcome = await remove(text, [], { objects });
    expect(outcome).toMatchObject({ code: 7, out: 'storageclass.storage.k8s.io/other deleted\n' });
    expect(outcome.err).toContain('storage class local: not deleted, because Volume a is of it and stays');
    expect(whats(outcome)).not.toContain('delete storageclasses/local');
  });

  test('what does not exist', async () => {
    const text = documents(volume('a'), classNamed('local'));
    expect(await remove(text)).toMatchObject({ code: 3, out: '' });
    expect(await remove(text, ['--ignore-not-found'])).toMatchObject({ code: 0, out: '', err: '' });
    expect(await remove(text, [], { objects: available('a') })).toMatchObject({ code: 7, out: deleted('a') });
  });

  test('--wait', async () => {
    const { code, out, err } = await remove(documents(volume('a')), ['--wait'], {
      objects: available('a'),
      events: [{ type: 'DELETED', object: volumeNamed('a') }],
    });
    expect({ code, out }).toEqual({ code: 0, out: deleted('a') });
    expect(err).toBe('a: Available\na: gone\n');
  });

  test('asks on a terminal, unless --yes is given', async () => {
    const path = join(folder, 'delete.yaml');
    await writeFile(path, documents(volume('a')));
    const world = { objects: available('a'), tty: true };
    const declined = await stowage(['delete', '-f', path], { ...world, answers: [false] });
    expect(declined).toMatchObject({ code: 5, out: '' });
    expect(declined.questions).toHaveLength(1);
    expect(await stowage(['delete', '-f', path, '--yes'], world)).toMatchObject({ code: 0, questions: [] });
  });
});
