import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../../src/api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../../src/api/resources.ts';
import { run } from '../../../../src/cli/run.ts';
import { merged } from '../../../../src/cli/volume/manifests/diff/merge.ts';
import { connect } from '../../../../src/kube/connect.ts';
import { ConnectionError } from '../../../../src/kube/errors.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../../support/cluster.ts';
import { fakeIo, stowage as inMemory, type World } from '../../../support/fake-io.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.client.create(VOLUMES, sparseVolume('data1', 'n1', '1Gi'));
  const status = { phase: 'Available', conditions: [] };
  await cluster.client.patch(VOLUMES, 'data1', { status }, { subresource: 'status' });
});
afterAll(() => cluster.stop());

/** Runs `stowage diff` with manifests and a server. */
async function diff(manifests: readonly object[], world: World = {}) {
  const { io, outcome } = fakeIo({
    stdin: manifests.map((manifest) => stringify(manifest)).join('---\n'),
    ...world,
  });
  const code = await run(['diff', '-f', '-', '--kubeconfig', cluster.kubeconfig], {
    ...io,
    connect,
  });
  return { ...outcome, code };
}

/** Returns the removed and added lines of a unified diff. */
const changes = (text: string) => text.split('\n').filter((line) => /^[-+](?![-+])/.test(line));

describe('diff', () => {
  test('exits with 0 and prints nothing for an unchanged manifest', async () => {
    expect(await diff([sparseVolume('data1', 'n1', '1Gi')])).toMatchObject({
      code: 0,
      out: '',
      err: '',
    });
  });

  test('finds no change in an object as get prints it', async () => {
    const live = await cluster.client.get(VOLUMES, 'data1');
    expect(await diff([live])).toMatchObject({ code: 0, out: '', err: '' });
  });

  test('exits with 1 and writes nothing for a changed field', async () => {
    const before = await cluster.client.get(VOLUMES, 'data1');
    const { code, out, err } = await diff([sparseVolume('data1', 'n1', '2Gi')]);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(
      /^(diff .*\n)?--- LIVE\/storage\.metalk8s\.scality\.com\.v1alpha1\.Volume\.\.data1\t/,
    );
    expect(changes(out)).toEqual(['-    size: 1Gi', '+    size: 2Gi']);
    expect(await cluster.client.get(VOLUMES, 'data1')).toEqual(before);
  });

  test('prints a change of an immutable field, and notes that the server refuses it', async () => {
    const { code, out, err } = await diff([sparseVolume('data1', 'n2', '1Gi')]);
    expect(code).toBe(1);
    expect(changes(out)).toEqual(['-  nodeName: n1', '+  nodeName: n2']);
    expect(err).toMatch(/^note: the server refuses this change of Volume data1: .*nodeName/);
  });

  test('prints the whole object if it does not exist', async () => {
    const { code, out, err } = await diff([sparseVolume('data2', 'n1', '1Gi')]);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(changes(out)).toContain('+  name: data2');
    expect(changes(out).filter((line) => line.startsWith('-'))).toEqual([]);
    expect(out).not.toMatch(/uid|creationTimestamp/);
    await expect(cluster.client.get(VOLUMES, 'data2')).rejects.toMatchObject({ code: 'not-found' });
  });

  test('prints only those of several objects that differ', async () => {
    const local = await cluster.client.get<KubeObject>(STORAGE_CLASSES, 'local');
    const { code, out } = await diff([
      { ...local, mountOptions: ['noatime', 'discard'] },
      sparseVolume('data1', 'n1', '1Gi'),
    ]);
    expect(code).toBe(1);
    expect(changes(out)).toEqual(['+  - discard']);
  });

  test('prints no control characters of a manifest', async () => {
    const volume = sparseVolume('data1', 'n1', '1Gi');
    const metadata = { ...volume.metadata, annotations: { a: 'x\u001b]0;owned\u0007\u009b2J' } };
    const { code, out } = await diff([{ ...volume, metadata }]);
    expect(code).toBe(1);
    expect(out).toContain('owned');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });
});

describe('diff exits with more than 1 for', () => {
  test('an invalid manifest', async () => {
    const { code, err } = await diff([sparseVolume('data1', 'n1', 'much')]);
    expect(code).toBe(2);
    expect(err).toContain('"much"');
  });

  test('a missing --filename', async () => {
    expect(await inMemory(['diff'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("'-f, --filename"),
    });
  });

  test('a server that does not answer', async () => {
    const away = new ConnectionError('https://x', 'refused');
    const stdin = stringify(sparseVolume('data1', 'n1', '1Gi'));
    const world = { stdin, failures: { 'get volumes/data1': away } };
    const { code, out, err } = await inMemory(['diff', '-f', '-'], world);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^error: API server https:\/\/x: refused\nhint: /);
  });

  test('a failure for some of several objects, and prints the others', async () => {
    const away = new ConnectionError('https://x', 'refused');
    const stdin = stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [sparseVolume('a', 'n1', '1Gi'), sparseVolume('b', 'n1', '1Gi')],
    });
    const { code, out } = await inMemory(['diff', '-f', '-'], {
      stdin,
      failures: { 'get volumes/a': away },
    });
    expect(code).toBe(7);
    expect(out).toContain('+  name: b');
  });

  test.each([
    ['a program that does not exist', 'stowage-has-no-such-program'],
    ['a program that fails', 'sh /nowhere'],
  ])('%s', async (_, program) => {
    const env = { KUBECTL_EXTERNAL_DIFF: program };
    const { code, err } = await diff([sparseVolume('data1', 'n1', '2Gi')], { env });
    expect(code).toBe(2);
    expect(err).toMatch(/^error: (sh|stowage-\S+) could not compare: /);
  });
});

test('KUBECTL_EXTERNAL_DIFF is run in place of diff', async () => {
  const env = { KUBECTL_EXTERNAL_DIFF: 'diff -q' };
  const { code, out } = await diff([sparseVolume('data1', 'n1', '2Gi')], { env });
  expect(code).toBe(1);
  expect(out).toMatch(/^Files LIVE\/.*data1 and MERGED\/.*data1 differ\n$/);
});

test('keeps the colors of the program, and removes control characters of objects', async () => {
  const env = { KUBECTL_EXTERNAL_DIFF: 'diff --color=always -N' };
  const volume = sparseVolume('data1', 'n1', '2Gi');
  const metadata = { ...volume.metadata, annotations: { a: 'x\u001b]0;owned\u0007' } };
  const { code, out } = await diff([{ ...volume, metadata }], { env });
  expect(code).toBe(1);
  expect(out).toContain('\u001b[31m');
  expect(out).not.toContain('\ufffd');
  expect(out).not.toContain('\u001b]');
});

test('distinguishes names that are too long for files', async () => {
  const names = ['a', 'b'].map((end) => 'n'.repeat(252) + end);
  const { code, out, err } = await diff(names.map((name) => sparseVolume(name, 'n1', '1Gi')));
  expect({ code, err }).toEqual({ code: 1, err: '' });
  for (const name of names) expect(changes(out)).toContain(`+  name: ${name}`);
});

test('reports that it cannot create a temporary directory', async () => {
  const { code, err } = await diff([sparseVolume('data1', 'n1', '2Gi')], {
    env: { TMPDIR: '/nowhere' },
  });
  expect(code).toBe(2);
  expect(err).toMatch(/^error: cannot create a directory in \/nowhere .*\nhint: Set \$TMPDIR/);
});

test('diff keeps its files in a private directory, and removes them', async () => {
  const look = { KUBECTL_EXTERNAL_DIFF: 'stat -c %a .' };
  expect((await diff([sparseVolume('data1', 'n1', '2Gi')], { env: look })).out).toMatch(/^700\n/);
  const where = { KUBECTL_EXTERNAL_DIFF: 'sh -c pwd' };
  const { out } = await diff([sparseVolume('data1', 'n1', '2Gi')], { env: where });
  expect(out).toContain('stowage-diff-');
  expect(existsSync(out.trim())).toBe(false);
});

// Examples of RFC 7386, appendix A.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{}', '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
])('%s patched with %s', (value, patch, wanted) => {
  expect(JSON.stringify(merged(JSON.parse(value), JSON.parse(patch)))).toBe(wanted);
});
