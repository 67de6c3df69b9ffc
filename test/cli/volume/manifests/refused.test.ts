import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stowage } from '../../../support/fake-io.ts';
import { classNamed } from '../../../support/volumes.ts';
import { create, documents, METALK8S, manifestDirectory, volume } from './manifests.ts';

const folder = manifestDirectory();

describe('create -f', () => {
  const good = documents(volume('good'));
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh']
    .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[index]}`)}]\n`)
    .join('')}`;

  test.each<[string, string, string]>([
    [
      'another kind',
      documents({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }),
      'Pod (v1) is not supported, only StorageClass (storage.k8s.io/v1) and Volume (storage.metalk8s.scality.com/v1alpha1)',
    ],
    [
      'another version',
      documents({ ...volume('a'), apiVersion: 'storage.metalk8s.scality.com/v1' }),
      'Volume (storage.metalk8s.scality.com/v1) is not supported',
    ],
    ['no kind', 'a: 1\n', 'apiVersion or kind is missing'],
    ['text', 'hello\n', 'apiVersion or kind is missing'],
    ['a list', '- a\n', 'apiVersion or kind is missing'],
    [
      'a List of another kind',
      documents({ apiVersion: 'v1', kind: 'List', items: [volume('a'), 5] }),
      'item 2: apiVersion or kind is missing',
    ],
    [
      'a List without items',
      documents({ apiVersion: 'v1', kind: 'List' }),
      'the List has no items',
    ],
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
      'a number as name',
      documents({ ...volume('a'), metadata: { name: 5 } }),
      'metadata.name must be string',
    ],
    [
      'an invalid name',
      documents({ ...volume('a'), metadata: { name: '../pods' } }),
      'a name has lower case',
    ],
    [
      'no spec',
      documents({ ...volume('a'), spec: undefined }),
      "it must have required property 'spec'",
    ],
    ['a spec of null', documents({ ...volume('a'), spec: null }), 'spec must be object'],
    [
      'a number as directory',
      documents(volume('a', { sparseLoopDevice: { size: '1Gi', directory: 5 } })),
      'spec.sparseLoopDevice.directory must be string',
    ],
    [
      'an unknown mode',
      documents(volume('a', { sparseLoopDevice: { size: '1Gi' }, mode: 'File' })),
      'spec.mode must be equal to one of the allowed values: Filesystem, Block',
    ],
    [
      'a number as label',
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
        volume('a', {
          sparseLoopDevice: { size: '1Gi' },
          rawBlockDevice: { devicePath: '/dev/sdb' },
        }),
      ),
      'sparseLoopDevice and rawBlockDevice',
    ],
    [
      'an unsupported file system',
      documents(classNamed('c', { parameters: { fsType: 'btrfs' } })),
      'StorageClass c: unsupported filesystem: btrfs',
    ],
    [
      'bad mkfs options',
      documents(classNamed('c', { parameters: { mkfsOptions: '["-U"]' } })),
      'StorageClass c: parameter mkfsOptions',
    ],
    [
      'invalid parameters',
      documents({ ...classNamed('c'), parameters: 'x' }),
      'parameters must be object',
    ],
    [
      'a duplicate key',
      METALK8S.replace('  nodeName: bootstrap\n', '  nodeName: bootstrap\n  nodeName: other\n'),
      'Map keys must be unique at line 17, column 3',
    ],
    ['invalid YAML', 'a: [\n', 'at line '],
    ['nested aliases that multiply', bomb, 'Excessive alias count'],
    [
      'a recursive alias',
      'a: &a {b: [*a, *a]}\n',
      'a.b[0] is an alias of an object that contains it',
    ],
    ['unclosed brackets', '['.repeat(100_000), 'Maximum call stack'],
    [
      'a number that a double cannot hold',
      METALK8S.replace('10Gi', '9007199254740993'),
      'spec.sparseLoopDevice.size is 9007199254740993: write a number that large in quotes',
    ],
    ['infinity', METALK8S.replace('10Gi', '.inf'), 'spec.sparseLoopDevice.size is Infinity'],
    ['an unknown tag', METALK8S.replace('10Gi', '!!js/function "f"'), 'Unresolved tag'],
    [
      'binary data',
      METALK8S.replace('10Gi', '!!binary aGk='),
      'spec.sparseLoopDevice.size is of a type that JSON lacks',
    ],
    [
      'documents without a separator',
      `${documents(volume('a'))}...\n${documents(volume('b'))}`,
      'several documents without ---',
    ],
    [
      'more than a server accepts',
      `# ${'x'.repeat(3 * 1024 * 1024)}\n${documents(volume('a'))}`,
      'it has more than 3145728 bytes',
    ],
  ])('refuses %s, and names file and document', async (_, text, message) => {
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

  test('refuses the same object twice', async () => {
    const { code, err } = await create(documents(volume('a'), volume('b'), volume('a')));
    expect(code).toBe(2);
    expect(err).toContain('document 3: Volume a is also in standard input, document 1');
  });

  test('accepts constructor and __proto__ as keys of annotations', async () => {
    const { requests } = await create(
      `${METALK8S}      annotations: {constructor: a, __proto__: b}\n`,
    );
    expect(JSON.stringify(requests[0]?.object)).toContain(
      '"annotations":{"constructor":"a","__proto__":"b"}',
    );
  });
});

describe('create -f refuses input that it cannot read', () => {
  test.each<[string[], string, number]>([
    [['-f', '/nonexistent.yaml'], 'error: /nonexistent.yaml cannot be read: ENOENT', 1],
    [['-f', '-', '-f', '-'], 'Standard input can be read only once', 2],
    [['-f', '-'], 'error: -: no object found', 2],
    [['-f', '/dev/zero'], '/dev/zero has more than 33554432 bytes', 2],
  ])('%j', async (flags, message, status) => {
    const { code, err, requests } = await stowage(['create', ...flags], { stdin: '# nothing\n' });
    expect({ code, requests }).toEqual({ code: status, requests: [] });
    expect(err).toContain(message);
  });

  test('a directory without manifests, and a file that is not text', async () => {
    const empty = join(folder.path, 'empty');
    await mkdir(empty);
    expect((await stowage(['create', '-f', empty])).err).toContain('has no manifests');
    await writeFile(join(folder.path, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
    expect((await stowage(['create', '-f', join(folder.path, 'binary')])).err).toContain(
      'is not UTF-8 text',
    );
  });
});
