import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { BACKUPS, type Backup } from '../../src/api/builtins/backup.ts';
import { sharedClaimsCluster } from '../support/shared-claims-cluster.ts';
import { until } from '../support/until.ts';

const cluster = sharedClaimsCluster({}, BACKUPS);

const stowage = (line: string) => cluster.stowage(line.split(' '));
const backups = async () => (await cluster.client.list<Backup>(BACKUPS)).items;
const report = (status: Backup['status']) =>
  cluster.client.patch(BACKUPS, 'b', { status }, { namespace: 'prod', subresource: 'status' });
const FULL = 'backup.stowage.dev/b';

test.each<[string, string, object]>([
  ['prod/b --pvc foo --to /a/b.zst', 'prod', { claimName: 'foo', to: { path: '/a/b.zst' } }],
  [
    'b --snapshot prod/s --to https://a.example/b',
    'prod',
    { snapshotName: 's', to: { url: 'https://a.example/b' } },
  ],
  [
    'b --pvc foo --to https://a.example/b --authorization-secret login/header -n test',
    'test',
    {
      claimName: 'foo',
      to: { url: 'https://a.example/b', authorizationSecretRef: { name: 'login', key: 'header' } },
    },
  ],
])('create backup %s creates the Backup that the flags describe', async (line, namespace, spec) => {
  expect(await stowage(`create backup ${line}`)).toMatchObject({
    code: 0,
    out: `${FULL} created\n`,
    err: '',
  });
  expect(await backups()).toMatchObject([{ metadata: { name: 'b', namespace }, spec }]);
});

test.each([
  ['b --to /a/b', 'Give either --pvc or --snapshot'],
  ['b --pvc p --snapshot s --to /a/b', 'Give either --pvc or --snapshot'],
  ['test/b --pvc prod/p --to /a/b', 'which is prod'],
  ['b --pvc p --to ftp://a.example/b', '--to must be an http or https URL'],
  ['b --pvc p --to a/b', '--to must be an http or https URL'],
  ['b --pvc p --to /a/', '--to must name a file'],
  ['b --pvc p --to https://user@a.example/b', '--to must be an http or https URL'],
  [
    'b --pvc p --to /a/b --authorization-secret login/header',
    '--authorization-secret is valid with a URL only',
  ],
  ['b --pvc p --to /a/b --authorization-secret login', 'Write SECRET/KEY'],
  ['b --pvc p', 'required option'],
])('create backup %s is wrong usage', async (line, message) => {
  const { code, err } = await stowage(`create backup ${line}`);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  expect(await backups()).toEqual([]);
});

test('create backup --dry-run prints the Backup and creates nothing', async () => {
  const { out } = await stowage(
    'create backup prod/b --pvc foo --to /a/b --dry-run=client -o yaml',
  );
  expect(parse(out)).toMatchObject({ kind: 'Backup', metadata: { name: 'b', namespace: 'prod' } });
  expect(
    (await stowage('create backup prod/b --pvc foo --to /a/b --dry-run=server')).out,
  ).toContain('(server dry run)');
  expect(await backups()).toEqual([]);
});

test.each<[NonNullable<Backup['status']>, number, string]>([
  [{ phase: 'Completed', bytes: 9 }, 0, ''],
  [
    { phase: 'Failed', message: 'the server answered 403' },
    1,
    'Backup prod/b failed: the server answered 403',
  ],
])('create backup --wait exits by the status of the Backup: %j', async (status, code, message) => {
  const waiting = stowage('create backup prod/b --pvc foo --to /a/b --wait -o name');
  await until('it is there', async () => ((await backups()).length > 0 ? true : undefined));
  await report({ phase: 'Running', message: 'waits' });
  await report(status);
  const ended = await waiting;
  expect(ended).toMatchObject({ code, err: expect.stringContaining(message) });
  expect(ended.out).toBe(code === 0 ? `${FULL}\n` : '');
});

test('the spec of a Backup is immutable and names exactly one source', async () => {
  await stowage('create backup prod/b --pvc foo --to /a/b');
  const change = (spec: object) =>
    cluster.client.patch(BACKUPS, 'b', { spec }, { namespace: 'prod' });
  await expect(change({ to: { path: '/a/c' } })).rejects.toThrow('spec is immutable');
  await expect(change({ snapshotName: 's' })).rejects.toThrow(
    'exactly one of claimName and snapshotName',
  );
});
