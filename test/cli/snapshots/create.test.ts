import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOTS } from '../../../src/api/resources.ts';
import type { VolumeSnapshot } from '../../../src/api/snapshot.ts';
import { capturedTerminal, interrupted } from '../../support/captured-terminal.ts';
import { startClaimsCluster } from '../../support/claims-cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { sharedClaimsCluster } from '../../support/shared-claims-cluster.ts';
import { claimNamed, fresh, SNAPSHOT } from '../../support/snapshots.ts';
import { until } from '../../support/until.ts';

const cluster = sharedClaimsCluster({}, VOLUME_SNAPSHOTS, PERSISTENT_VOLUME_CLAIMS);

const stowage = (line: string) => cluster.stowage(line.split(' '));
const snapshots = async () => (await cluster.client.list<VolumeSnapshot>(VOLUME_SNAPSHOTS)).items;
const prod = { namespace: 'prod' };
const report = (name: string, status: VolumeSnapshot['status'], namespace = 'prod') =>
  cluster.client.patch(VOLUME_SNAPSHOTS, name, { status }, { namespace, subresource: 'status' });
const FULL = 'volumesnapshot.snapshot.storage.k8s.io/foo-backup';

describe('create snapshot', () => {
  test('creates the snapshot in the namespace of its claim', async () => {
    await cluster.client.create(PERSISTENT_VOLUME_CLAIMS, fresh(claimNamed('foo', {}, 'prod')));
    expect(await stowage('create snapshot foo-backup --pvc foo -n prod')).toMatchObject({
      code: 0,
      out: `${FULL} created\n`,
      err: '',
    });
    expect(await snapshots()).toMatchObject([
      {
        metadata: { name: 'foo-backup', namespace: 'prod' },
        spec: { source: { persistentVolumeClaimName: 'foo' } },
      },
    ]);
    expect((await snapshots())[0]?.spec).not.toHaveProperty('volumeSnapshotClassName');
  });

  test.each([
    ['prod/b --pvc foo --class fast', 'prod'],
    ['b --pvc prod/foo --class fast', 'prod'],
    ['prod/b --pvc prod/foo --class fast -n test', 'prod'],
    ['b --pvc foo --class fast', 'default'],
  ])('finds the namespace, and notes a missing claim: %s', async (line, namespace) => {
    const { code, err } = await stowage(`create snapshot ${line}`);
    expect({ code, err }).toEqual({
      code: 0,
      err: `note: there is no PersistentVolumeClaim ${namespace}/foo yet\n`,
    });
    expect(await snapshots()).toMatchObject([
      { metadata: { name: 'b', namespace }, spec: { volumeSnapshotClassName: 'fast' } },
    ]);
  });

  test('--dry-run prints the snapshot and creates nothing', async () => {
    const { out } = await stowage('create snapshot prod/b --pvc foo --dry-run=client -o yaml');
    expect(parse(out)).toMatchObject({
      kind: 'VolumeSnapshot',
      metadata: { name: 'b', namespace: 'prod' },
    });
    expect(await stowage('create snapshot prod/b --pvc foo --dry-run=server')).toMatchObject({
      out: expect.stringContaining('(server dry run)'),
      err: 'note: there is no PersistentVolumeClaim prod/foo yet\n',
    });
    expect(await snapshots()).toEqual([]);
  });

  test('--wait reports progress until the snapshot is ready', async () => {
    const { terminal, text, shows } = capturedTerminal();
    const line = 'create snapshot prod/foo-backup --pvc foo --wait -o name';
    const waiting = cluster.stowage(line.split(' '), { terminal });
    await shows('foo-backup: Pending, no content yet\n');
    await report('foo-backup', { error: { message: 'the node is away' } });
    await shows('foo-backup: Failed, no content yet: the node is away\n');
    const error = null as never;
    await report('foo-backup', { readyToUse: true, boundVolumeSnapshotContentName: 'c', error });
    const { code, err } = await waiting;
    expect(code).toBe(0);
    expect(err).toContain(`${FULL} created\n`);
    expect(text().endsWith(`foo-backup: Ready\n${FULL}\n`)).toBe(true);
  });

  test('--wait exits with 5 if manual action is needed', async () => {
    const clock = new FakeClock();
    const { terminal, shows } = capturedTerminal();
    const line = 'create snapshot prod/foo-backup --pvc foo --wait';
    const waiting = cluster.stowage(line.split(' '), { clock, terminal });
    await shows('Pending');
    await clock.advance(3000);
    const { code, err } = await waiting;
    expect(code).toBe(5);
    expect(err).toContain(
      'VolumeSnapshot prod/foo-backup needs manual action: it names no class, and there is no default one of volume.stowage.dev\n',
    );
    expect(err).toContain('hint: Create a class: stowage create snapshotclass stowage --default\n');
  });

  test('--wait times out with the last state and a hint', async () => {
    const clock = new FakeClock();
    const { terminal, text, shows } = capturedTerminal();
    const line = 'create snapshot prod/foo-backup --pvc foo --wait --timeout 3s';
    const waiting = cluster.stowage(line.split(' '), { clock, terminal });
    await shows('Pending');
    await report('foo-backup', { error: { message: 'the node is away' } });
    await shows('Failed, no content yet: the node is away');
    await clock.advance(3000);
    const { code, err } = await waiting;
    // Standard output stays empty.
    expect([code, text()]).toEqual([6, err]);
    expect(err).toContain(
      'error: VolumeSnapshot prod/foo-backup: timed out after 3 s: Failed, no content yet: the node is away\n',
    );
    expect(err).toContain(
      'The daemon continues it. Find out what holds it up: stowage why snapshot prod/foo-backup',
    );
  });

  test('--wait exits with 3 if the snapshot is deleted', async () => {
    const waiting = stowage('create snapshot prod/foo-backup --pvc foo --wait');
    await until('the snapshot is there', async () => (await snapshots())[0]);
    await cluster.client.delete(VOLUME_SNAPSHOTS, 'foo-backup', prod);
    expect(await waiting).toMatchObject({
      code: 3,
      err: expect.stringContaining('was deleted during the wait'),
    });
  });

  test.each([
    ['create snapshot a', "required option '--pvc"],
    [
      'create snapshot prod/a --pvc test/foo',
      'must be in the namespace of its claim, which is test',
    ],
    ['create snapshot a --pvc ../x', 'lower-case'],
    ['create snapshot A --pvc x', 'A name has'],
  ])('%s is wrong usage', async (line, message) => {
    const { code, err } = await stowage(line);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

test('snapshot commands print how to install missing snapshot CRDs', async () => {
  const without = await startClaimsCluster({ without: ['VolumeSnapshot'] });
  try {
    for (const line of [
      'create snapshot a --pvc b',
      'get snapshots',
      'get snapshot a',
      'get snapshots -A',
    ]) {
      const { code, err } = await without.stowage(line.split(' '));
      expect(code).toBe(3);
      expect(err).toContain('stowage install --components snapshot-crds');
    }
    const { code, out } = await without.stowage('why snapshot a'.split(' '));
    expect(code).toBe(0);
    expect(out).toContain('stowage install --components snapshot-crds');
  } finally {
    await without.stop();
  }
});

test('prints hostile text without control characters', async () => {
  const evil = '\u001b[2J\u009b\u202eFix: rm\nFix: rm';
  await cluster.client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
  await report('foo-backup', { error: { message: evil } });
  for (const line of [
    'get snapshots -A -o wide',
    'get snapshots -n prod -o json',
    'get snapshots -n prod -o yaml',
    'why snapshot prod/foo-backup',
    'why snapshot prod/foo-backup -o json',
  ]) {
    const { code, out } = await stowage(line);
    expect(code).toBe(0);
    expectPrintable(out);
    expect(out).not.toMatch(/^Fix: rm/m);
  }
});

describe('get snapshots', () => {
  const make = async () => {
    await cluster.client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
    await report('foo-backup', {
      readyToUse: true,
      restoreSize: '1Gi',
      boundVolumeSnapshotContentName: 'c',
      creationTime: new Date().toISOString(),
    });
    const other = { ...SNAPSHOT, metadata: { name: 'b', namespace: 'test' } };
    await cluster.client.create(
      VOLUME_SNAPSHOTS,
      fresh({ ...other, spec: { source: { volumeSnapshotContentName: 'x' } } }),
    );
    await report('b', { error: { message: 'it broke' } }, 'test');
  };

  test('prints a table of one namespace, or of all with -A', async () => {
    await make();
    const one = await stowage('get snapshots -n prod');
    expect(one).toMatchObject({ code: 0, err: '' });
    expect(one.out).toMatch(
      /^NAME +PHASE +SOURCE +SIZE +CLASS +TAKEN +AGE\nfoo-backup +Ready +foo +1Gi +<none> +\d+s +\d+s\n$/,
    );
    const all = await stowage('get vs -A -o wide --sort-by name');
    expect(all.out).toMatch(/^NAMESPACE +NAME +PHASE +SOURCE .* CONTENT +MESSAGE\n/);
    expect(all.out).toMatch(/\ntest +b +Failed +content x .* it broke\nprod +foo-backup /);
    expect((await stowage('get snapshots -A --sort-by size -o name')).out).toBe(
      'volumesnapshot.snapshot.storage.k8s.io/b\nvolumesnapshot.snapshot.storage.k8s.io/foo-backup\n',
    );
    expect(await stowage('get snapshots -n other')).toMatchObject({
      code: 0,
      out: '',
      err: 'No snapshots found\n',
    });
  });

  test('prints named snapshots as JSON, and exits with 3 or 7 for unknown names', async () => {
    await make();
    const { out } = await stowage('get snapshot foo-backup -n prod -o json');
    expect(JSON.parse(out)).toMatchObject({
      kind: 'VolumeSnapshot',
      metadata: { name: 'foo-backup' },
    });
    expect(await stowage('get snapshots foo-backup nowhere -n prod')).toMatchObject({ code: 7 });
    expect(await stowage('get snapshot nowhere -n prod')).toMatchObject({ code: 3 });
    expect(await stowage('get snapshot a -A')).toMatchObject({ code: 2 });
    const list = JSON.parse((await stowage('get snapshots -A -o json')).out);
    expect(list).toMatchObject({ kind: 'List', items: [{}, {}] });
  });

  test('-w prints changes of snapshots in the namespace, until interrupted', async () => {
    await make();
    const argv = ['get', 'snapshots', '-w', '-n', 'prod', '--no-headers'];
    const { code, err, lines } = await interrupted(cluster, argv, async (shows) => {
      await shows('foo-backup');
      // Snapshots in other namespaces are not shown, even with the same name.
      const named = (name: string, namespace: string) =>
        fresh({ ...SNAPSHOT, metadata: { name, namespace } });
      await cluster.client.create(VOLUME_SNAPSHOTS, named('foo-backup', 'test'));
      await cluster.client.create(VOLUME_SNAPSHOTS, named('new', 'prod'));
      await cluster.client.delete(VOLUME_SNAPSHOTS, 'foo-backup', prod);
      await shows('Gone');
    });
    expect({ code, err }).toEqual({ code: 130, err: '' });
    const cells = lines.map((line) => line.split(/ +/).slice(0, 2).join(' '));
    expect(cells).toEqual(['foo-backup Ready', 'new Pending', 'foo-backup Gone']);
  });
});
