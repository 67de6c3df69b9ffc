import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stowage } from '../../../support/fake-io.ts';
import { classNamed, ready, volumeNamed } from '../../../support/volumes.ts';
import {
  create,
  created,
  documents,
  METALK8S,
  manifestDirectory,
  volume,
  whats,
} from './manifests.ts';

const folder = manifestDirectory();

test('requests strict field validation from the server', async () => {
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
      template: {
        metadata: { labels: { 'app.kubernetes.io/name': 'prometheus-operator-prometheus' } },
      },
    },
  });
});

test.each<[string, string]>([
  ['several documents', documents(volume('a'), volume('b'))],
  [
    'empty documents between others',
    `# first\n---\n---\n${documents(volume('a'))}---\n# nothing\n---\n${documents(volume('b'))}---\n`,
  ],
  ['a List', documents({ apiVersion: 'v1', kind: 'List', items: [volume('a'), volume('b')] })],
  ['JSON', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [volume('a'), volume('b')] })],
  ['CRLF line endings', documents(volume('a'), volume('b')).replaceAll('\n', '\r\n')],
  ['a byte order mark', `\ufeff${documents(volume('a'), volume('b'))}`],
])('takes %s', async (_, text) => {
  expect(await create(text)).toMatchObject({ code: 0, out: created('a') + created('b'), err: '' });
});

test('reads anchors and merges', async () => {
  const { requests } = await create(`${METALK8S}  <<: &more {mode: Filesystem, nodeName: other}\n`);
  expect(requests[0]?.object).toMatchObject({
    spec: { mode: 'Filesystem', nodeName: 'bootstrap' },
  });
});

test('reads several files, and the manifests of a directory', async () => {
  const of = join(folder.path, 'of');
  await mkdir(join(of, 'below.yaml'), { recursive: true });
  for (const name of ['2.yml', '1.yaml', '3.json', 'notes.txt']) {
    await writeFile(join(of, name), JSON.stringify(volume(`v${name[0]}`)));
  }
  await writeFile(join(folder.path, 'one.yaml'), documents(volume('one')));
  const { out } = await stowage(['create', '-f', join(folder.path, 'one.yaml'), '--filename', of]);
  expect(out).toBe(['one', 'v1', 'v2', 'v3'].map(created).join(''));
});

test('classes come first: a Volume whose class is missing would fail', async () => {
  const outcome = await create(documents(volume('a'), classNamed('local')), ['-o', 'name']);
  expect(whats(outcome)).toEqual(['create storageclasses/local', 'create volumes/a']);
  expect(outcome.out).toBe(
    'storageclass.storage.k8s.io/local\nvolume.storage.metalk8s.scality.com/a\n',
  );
});

test('creates nothing in a dry run', async () => {
  expect(await create(METALK8S, ['--dry-run=client'])).toMatchObject({ code: 0, connections: [] });
  const { requests } = await create(METALK8S, ['--dry-run=server']);
  expect(requests).toMatchObject([{ options: { dryRun: true } }]);
});

test('--wait waits for the Volumes', async () => {
  const { code, out, err } = await create(documents(classNamed('local'), volume('a')), ['--wait'], {
    events: [
      {
        type: 'MODIFIED',
        object: volumeNamed('a', { phase: 'Available', ...ready('True', 'Available') }),
      },
    ],
  });
  expect({ code, out }).toEqual({
    code: 0,
    out: 'storageclass.storage.k8s.io/local created\nvolume.storage.metalk8s.scality.com/a ready\n',
  });
  expect(err).toContain('a: Available\n');
});

test('tries each object, and reports each failure', async () => {
  const failures = { 'create volumes/a': new Error('a is there') };
  expect(await create(documents(volume('a'), volume('b')), [], { failures })).toMatchObject({
    code: 7,
    out: created('b'),
    err: 'error: a is there\nerror: 1 of 2 failed\n',
  });
});
