import { describe, expect, test } from '@jest/globals';
import { REFERENCE_GRANTS, VOLUME_SNAPSHOTS } from '../../../src/api/resources.ts';
import { nameFor } from '../../../src/cli/grants/manifest.ts';
import { startClaimsCluster } from '../../support/claims-cluster.ts';
import {
  FROM_CLAIMS,
  FROM_LINKS,
  grantNamed,
  SNAPSHOT,
  TO_BACKUP,
} from '../../support/snapshots.ts';
import { FULL, grantsScene, NAME } from './grants-scene.ts';

const { grants, make, stowage } = grantsScene();

describe('grant snapshot', () => {
  test('grants claims and links of the other namespace, and notes a missing snapshot', async () => {
    expect(await stowage('grant snapshot prod/foo-backup --to test')).toMatchObject({
      code: 0,
      out: `${FULL} created\n`,
      err: 'note: there is no VolumeSnapshot prod/foo-backup yet\n',
    });
    expect(await grants()).toMatchObject([
      { metadata: { name: NAME }, spec: { from: [FROM_CLAIMS, FROM_LINKS], to: [TO_BACKUP] } },
    ]);
  });

  test.each([
    ['claims', FROM_CLAIMS],
    ['links', FROM_LINKS],
  ])('--for %s grants access to no other kind', async (what, from) => {
    await make(VOLUME_SNAPSHOTS, SNAPSHOT);
    expect(await stowage(`grant vs foo-backup -n prod --to test --for ${what}`)).toMatchObject({
      code: 0,
      err: '',
    });
    expect((await grants()).map(({ spec }) => spec)).toEqual([{ from: [from], to: [TO_BACKUP] }]);
  });

  test('grants all snapshots of a namespace with NAMESPACE/*', async () => {
    expect(await stowage('grant snapshot prod/* --to test')).toMatchObject({ code: 0, err: '' });
    const { name: _, ...all } = TO_BACKUP;
    expect((await grants()).map(({ spec }) => spec.to)).toEqual([[all]]);
    // The grant of all includes a single snapshot, but not vice versa.
    expect((await stowage('grant snapshot prod/foo-backup --to test')).out).toMatch(
      /already grants that\n$/,
    );
    expect((await stowage('grant snapshot prod/foo-backup --to other')).out).toMatch(/created\n$/);
    expect((await stowage('grant snapshot prod/* --to other')).out).toMatch(/created\n$/);
  });

  test('changes nothing if any ReferenceGrant already grants the access', async () => {
    await make(
      REFERENCE_GRANTS,
      grantNamed('bar', { from: [FROM_CLAIMS, FROM_LINKS], to: [TO_BACKUP] }),
    );
    for (const more of ['', ' --for claims', ' --for links', ' --dry-run=server']) {
      const { code, out } = await stowage(`grant snapshot prod/foo-backup --to test${more}`);
      expect(code).toBe(0);
      expect(out).toMatch(/^referencegrant\.gateway\.networking\.k8s\.io\/bar already grants that/);
    }
    expect(await grants()).toHaveLength(1);
  });

  test.each([
    ['claims', [FROM_CLAIMS, FROM_LINKS]],
    ['links', [FROM_LINKS, FROM_CLAIMS]],
  ])('extends its own grant for %s to both kinds', async (first, from) => {
    await stowage(`grant snapshot prod/foo-backup --to test --for ${first}`);
    expect(await stowage('grant snapshot prod/foo-backup --to test')).toMatchObject({
      code: 0,
      out: `${FULL} changed\n`,
    });
    expect((await grants()).map(({ spec }) => spec)).toEqual([{ from, to: [TO_BACKUP] }]);
  });

  test('refuses a grant of its name that was changed to grant something else', async () => {
    const other = { from: [FROM_LINKS], to: [{ ...TO_BACKUP, name: 'secret' }] };
    await make(REFERENCE_GRANTS, grantNamed(NAME, other));
    const { code, err } = await stowage('grant snapshot prod/foo-backup --to test');
    expect(code).toBe(5);
    expect(err).toContain(
      `ReferenceGrant prod/${NAME} already exists, and was changed to grant something else`,
    );
    expect((await grants()).map(({ spec }) => spec)).toEqual([other]);
  });

  test('merges grants of concurrent commands into one ReferenceGrant', async () => {
    const lines = Array.from(
      { length: 6 },
      (_, index) => `--for ${index % 2 === 0 ? 'claims' : 'links'}`,
    );
    const all = await Promise.all(
      lines.map((more) => stowage(`grant snapshot prod/foo-backup --to test ${more}`)),
    );
    expect(all.map(({ code }) => code)).toEqual(lines.map(() => 0));
    const [only, ...others] = await grants();
    expect(others).toEqual([]);
    expect(new Set(only?.spec.from.map(({ kind }) => kind))).toEqual(
      new Set(['PersistentVolumeClaim', 'VolumeSnapshotLink']),
    );
  });

  test('--dry-run prints the grant and creates nothing', async () => {
    const { out } = await stowage(
      'grant snapshot prod/foo-backup --to test --dry-run=client -o json',
    );
    expect(JSON.parse(out)).toMatchObject({
      apiVersion: 'gateway.networking.k8s.io/v1beta1',
      metadata: { name: NAME, namespace: 'prod' },
    });
    expect(
      await stowage('grant snapshot prod/foo-backup --to test --dry-run=server'),
    ).toMatchObject({
      out: `${FULL} created (server dry run)\n`,
      err: 'note: there is no VolumeSnapshot prod/foo-backup yet\n',
    });
    expect(await grants()).toEqual([]);
  });

  test.each([
    ['grant snapshot prod/a', '--to'],
    ['grant snapshot prod/a --to test --to other', 'Give it once'],
    ['grant snapshot prod/a --to Test', 'lower-case'],
    ['grant snapshot prod/a --to test --for pods', 'claims, links'],
    ['grant snapshot prod/a/b --to test', 'NAMESPACE/NAME'],
    ['grant snapshot prod/a* --to test', 'not for part of a name'],
    ['grant snapshot ../a --to test', 'lower-case'],
    ['grant snapshot prod/a --to prod', 'its own snapshots without a grant'],
  ])('%s is wrong usage', async (line, message) => {
    const { code, out, err } = await stowage(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

test('nameFor returns valid, unique object names', () => {
  const pairs = [
    ['a-to-b', 'c'],
    ['a', 'b-to-c'],
    ['all-snapshots', 'c'],
    [undefined, 'c'],
    [`${'a'.repeat(149)}.${'b'.repeat(100)}`, 'n'.repeat(63)],
  ] as const;
  const names = pairs.map(([snapshot, to]) => nameFor({ snapshot, to }));
  expect(new Set(names).size).toBe(pairs.length);
  for (const name of names) {
    expect(name.length).toBeLessThanOrEqual(253);
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
});

describe('revoke grant', () => {
  test('deletes the grant, except in a dry run', async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    expect((await stowage(`revoke grant prod/${NAME} --dry-run=server`)).code).toBe(0);
    expect(await grants()).toHaveLength(1);
    expect(await stowage(`revoke refgrant ${NAME} -n prod`)).toMatchObject({
      code: 0,
      out: `${FULL} revoked\n`,
    });
    expect(await grants()).toEqual([]);
    expect(await stowage(`revoke grant prod/${NAME}`)).toMatchObject({ code: 3 });
  });

  test.each([
    ['by no other grant', [], 'namespace test loses access to ACCESS (claims, links)'],
    [
      'for claims by another one',
      [{ from: [FROM_CLAIMS], to: [TO_BACKUP] }],
      'namespace test loses access to ACCESS (links)',
    ],
    [
      'by a grant of all snapshots',
      [{ from: [FROM_CLAIMS, FROM_LINKS], to: [{ ...TO_BACKUP, name: undefined }] }],
      'no namespace loses access: other grants allow the same',
    ],
    [
      'of another snapshot by another one',
      [{ from: [FROM_CLAIMS, FROM_LINKS], to: [{ ...TO_BACKUP, name: 'other' }] }],
      'namespace test loses access to ACCESS (claims, links)',
    ],
  ])('notes who loses access before the write, if that is granted %s', async (_, others, note) => {
    await make(VOLUME_SNAPSHOTS, SNAPSHOT);
    await stowage('grant snapshot prod/foo-backup --to test');
    for (const [index, spec] of others.entries())
      await make(REFERENCE_GRANTS, grantNamed(`other-${index}`, spec));
    const err = `note: ${note.replace('ACCESS', 'VolumeSnapshot prod/foo-backup')}\n`;
    for (const more of [' --dry-run=server', ''])
      expect(await stowage(`revoke grant prod/${NAME}${more}`)).toMatchObject({ code: 0, err });
  });

  test.each([
    [
      'from',
      {
        from: [
          FROM_CLAIMS,
          { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'web' },
        ],
        to: [TO_BACKUP],
      },
    ],
    ['to', { from: [FROM_CLAIMS], to: [TO_BACKUP, { group: '', kind: 'Secret' }] }],
  ])('refuses a grant whose %s also lists other kinds', async (_name, spec) => {
    await make(REFERENCE_GRANTS, grantNamed('bar', spec));
    const { code, err } = await stowage('revoke grant prod/bar');
    expect(code).toBe(5);
    expect(err).toContain('kubectl delete referencegrant bar -n prod');
    expect(await grants()).toHaveLength(1);
  });
});

test('grant commands work with a cluster that serves only v1beta1', async () => {
  const old = await startClaimsCluster({ grantsIn: 'v1beta1' });
  try {
    expect((await old.stowage('grant snapshot prod/foo-backup --to test'.split(' '))).code).toBe(0);
    const { code } = await old.stowage(
      'check grant --from test --snapshot prod/foo-backup'.split(' '),
    );
    expect(code).toBe(0);
    const { out } = await old.stowage('get grants -A -o json'.split(' '));
    expect(JSON.parse(out).items).toHaveLength(1);
    expect((await old.stowage(['revoke', 'grant', `prod/${NAME}`])).code).toBe(0);
    await expect(old.client.list(REFERENCE_GRANTS)).rejects.toThrow();
  } finally {
    await old.stop();
  }
});

test('grant commands exit with 3 if the cluster has no ReferenceGrant CRD', async () => {
  const without = await startClaimsCluster({ without: ['ReferenceGrant'] });
  try {
    for (const line of [
      'grant snapshot prod/a --to test',
      'get grants',
      'revoke grant prod/a',
      'check grant --from test --snapshot prod/a',
    ]) {
      const { code, err } = await without.stowage(line.split(' '));
      expect(code).toBe(3);
      expect(err).toContain('stowage install --components referencegrant-crd');
    }
  } finally {
    await without.stop();
  }
});
