import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/api/meta.ts';
import { SignalError } from '../../src/cli/lib/signals.ts';
import { stowage } from '../support/fake-io.ts';
import { expectPrintable } from '../support/printable-text.ts';
import { refusal } from '../support/refusals.ts';
import { SNAPSHOT } from '../support/snapshots.ts';
import { volumeNamed } from '../support/volumes.ts';

const local = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: 'local',
    creationTimestamp: '2029-12-31T19:00:00Z',
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: 'kubernetes.io/no-provisioner',
};
const a = volumeNamed('a');
const objects: Record<string, KubeObject> = {
  'volumes/a': a,
  'storageclasses/local': local,
  'volumesnapshots/foo-backup': SNAPSHOT,
};
const get = (line: string, world = {}) =>
  stowage(['get', ...line.split(' ')], { objects, ...world });

test('prints a table for each kind, with the kind before each name, as kubectl does', async () => {
  const { code, out, err } = await get('volumes,storageclasses');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['NAME', 'NODE'],
    ['volume.storage.metalk8s.scality.com/a', 'n1'],
    [''],
    ['NAME', 'KIND'],
    ['storageclass.storage.k8s.io/local (default)', 'static'],
    [''],
  ]);
});

test('--no-headers omits the blank lines, too', async () => {
  const { out } = await get('volumes,sc --no-headers');
  expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual([
    ...['volume.storage.metalk8s.scality.com/a', 'storageclass.storage.k8s.io/local', ''],
  ]);
});

test('-A shows namespaces, which precede the names', async () => {
  const { out } = await get('sc,snapshots -A');
  expect(out).toMatch(/^prod +volumesnapshot\.snapshot\.storage\.k8s\.io\/foo-backup /m);
});

test.each([
  ['volumes,attachments', /^attachment\/a +n1 +Attached/m],
  ['volumes,populators', /^volume\.storage/m],
])('shows the rows of %s', async (kinds, shown) => {
  const since = '2029-12-31T19:00:00Z';
  const attachment = { node: 'n1', state: 'Attached' as const, pods: [], since };
  const attached = volumeNamed('a', {
    attachments: [{ ...attachment, safeToMount: true, safeToDetach: false }],
  });
  const { code, out } = await get(kinds, { objects: { 'volumes/a': attached } });
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(shown) });
});

test('a kind without objects has no table', async () => {
  const { code, out, err } = await get('volumes,snapshotclasses,storageclasses');
  expect({ code, err, tables: out.match(/^NAME/gm)?.length }).toEqual({
    ...{ code: 0, err: '', tables: 2 },
  });
  expect(await get('volumes,sc', { objects: {} })).toMatchObject({
    code: 0,
    out: '',
    err: 'No volumes or storage classes of Volumes found\n',
  });
});

describe('data of several kinds', () => {
  test.each([
    ['volumes,sc', [a, local]],
    ['volume/a sc/local', [a, local]],
    ['volumes,sc local', [local]],
    ['volume/a vol/a sc/local', [a, local]],
    ['several volumes volume/x sc', [a, local]],
    ['several volume/x volumes sc', [a, local]],
  ])('%s is one List', async (kinds, items) => {
    const { out } = await get(`${kinds} -o json`);
    expect(JSON.parse(out)).toMatchObject({ apiVersion: 'v1', kind: 'List', items });
  });

  test('is an empty List without objects', async () => {
    const { code, out } = await get('volumes,sc -o json', { objects: {} });
    expect({ code, list: JSON.parse(out) }).toMatchObject({ code: 0, list: { items: [] } });
  });

  test('fills a template', async () => {
    const { out } = await get('volumes,sc -o jsonpath={.items[*].kind}');
    expect(out).toBe('Volume StorageClass');
  });

  test('has names with -o name', async () => {
    const { out } = await get('sc,volumes -o name');
    expect(out).toBe('storageclass.storage.k8s.io/local\nvolume.storage.metalk8s.scality.com/a\n');
  });
});

test.each([
  [
    'volumes,sc -w',
    '--watch takes one kind',
    'stowage get volumes -w; stowage get storageclasses -w',
  ],
  [
    'volumes,nodes -o yaml',
    'get nodes prints rows of its own, which no List can have',
    'stowage get volumes -o json; stowage get nodes -o json',
  ],
  [
    'volumes,populators -l a=b',
    'get populators takes no --selector',
    'stowage get volumes; stowage get populators',
  ],
  ['volumes,sc a -l a=b', 'Names and --selector cannot be given together', undefined],
  ['volumes,sc --sort-by name', "unknown option '--sort-by'", 'stowage get KIND [options]'],
  ['volumes,nonsense', "unknown kind 'nonsense'", undefined],
  ['volumes,sc A', "'volumes/A' is invalid", undefined],
  ['several volumes nonsense', "'nonsense' is invalid", undefined],
])('get %s is wrong usage', async (line, problem, hint) => {
  const { code, out, err, requests } = await get(line);
  expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
  expect(err).toContain(problem);
  if (hint !== undefined) expect(err).toContain(hint);
});

test('a list of kinds is refused by verbs that take one', async () => {
  const { code, err, requests } = await stowage(['delete', 'volumes,sc', '--all']);
  expect({ code, requests }).toEqual({ code: 2, requests: [] });
  expect(err).toBe(
    'error: stowage delete takes one kind at a time, not volumes,sc\n' +
      'hint: Run a command for each kind: stowage delete volume; stowage delete storageclass\n',
  );
});

describe('get of several kinds, of which some fail', () => {
  const failures = { 'list storageclasses/*': refusal(403, 'storageclasses is forbidden') };

  test('prints the others, and exits with 7', async () => {
    const { code, out, err } = await get('sc,volumes -o name', { failures });
    expect({ code, out }).toEqual({ code: 7, out: 'volume.storage.metalk8s.scality.com/a\n' });
    expect(err).toMatch(/^error: storageclasses is forbidden\n[\s\S]*error: 1 of 2 failed\n$/);
  });

  test('exits with the common status if all fail alike, and prints nothing', async () => {
    const all = { ...failures, 'list volumes/*': refusal(403, 'volumes is forbidden') };
    expect(await get('sc,volumes -o json', { failures: all })).toMatchObject({ code: 4, out: '' });
  });

  test('reports a missing name for each kind', async () => {
    const { code, err } = await get('sc,volumes x a');
    expect(code).toBe(7);
    expect(err).toContain('storageclasses/x not found');
    expect(err).toContain('volumes/x not found');
    expect(err).toContain('3 of 4 failed');
  });

  test('ends at a signal', async () => {
    const signal = AbortSignal.abort(new SignalError('SIGINT'));
    const { code, requests } = await get('sc,volumes', { failures, signal });
    expect(code).toBe(130);
    expect(requests).toHaveLength(1);
  });
});

test.each([[''], [' -o wide'], [' -o name'], [' -o yaml']])(
  'prints no control characters, with "%s"',
  async (flags) => {
    const evil = '\u001b]0;owned\u0007\u009b2J';
    const bad = { ...a, metadata: { ...a.metadata, name: `a${evil}` } };
    const { out } = await get(`volumes,sc${flags}`, {
      objects: { ...objects, 'volumes/a': bad },
    });
    expect(out).toMatch(/owned/);
    expectPrintable(out);
  },
);
