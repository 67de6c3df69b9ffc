import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
} from '../../src/api/resources.ts';
import type { ReferenceGrant } from '../../src/api/snapshot.ts';
import { nameFor } from '../../src/cli/grants/manifest.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { interrupted, type Shows } from '../support/captured-terminal.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { expectSchema } from '../support/output-page.ts';
import { refusing } from '../support/refusals.ts';
import {
  claimNamed,
  FROM_CLAIMS,
  FROM_LINKS,
  fresh,
  grantNamed,
  LINK,
  SNAPSHOT,
  TO_BACKUP,
  TO_LINK,
  TO_SNAPSHOT,
} from '../support/snapshots.ts';

let cluster: ClaimsCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startClaimsCluster({ crossNamespace: true });
  client = cluster.client;
});
afterAll(() => cluster.stop());
afterEach(() =>
  cluster.empty(REFERENCE_GRANTS, VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_LINKS, PERSISTENT_VOLUME_CLAIMS),
);

const stowage = (line: string) => cluster.stowage(line.split(' '));
const grants = async (namespace = 'prod') =>
  (await client.list<ReferenceGrant>(REFERENCE_GRANTS, { namespace })).items;
const make = <T extends KubeObject>(resource: typeof REFERENCE_GRANTS, object: T) =>
  client.create(resource, fresh(object));
const NAME = nameFor({ snapshot: 'foo-backup', to: 'test' });
const FULL = `referencegrant.gateway.networking.k8s.io/${NAME}`;

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
  ])('--for %s', async (what, from) => {
    await make(VOLUME_SNAPSHOTS, SNAPSHOT);
    expect(await stowage(`grant vs foo-backup -n prod --to test --for ${what}`)).toMatchObject({
      code: 0,
      err: '',
    });
    expect((await grants()).map(({ spec }) => spec)).toEqual([{ from: [from], to: [TO_BACKUP] }]);
  });

  test('all of a namespace', async () => {
    expect(await stowage('grant snapshot prod/* --to test')).toMatchObject({ code: 0, err: '' });
    const { name: _, ...all } = TO_BACKUP;
    expect((await grants()).map(({ spec }) => spec.to)).toEqual([[all]]);
    // One is among them; all are not by one.
    expect((await stowage('grant snapshot prod/foo-backup --to test')).out).toMatch(/grants that already\n$/);
    expect((await stowage('grant snapshot prod/foo-backup --to other')).out).toMatch(/created\n$/);
    expect((await stowage('grant snapshot prod/* --to other')).out).toMatch(/created\n$/);
  });

  test('again changes nothing, however it came to be granted', async () => {
    await make(REFERENCE_GRANTS, grantNamed('bar', { from: [FROM_CLAIMS, FROM_LINKS], to: [TO_BACKUP] }));
    for (const more of ['', ' --for claims', ' --for links', ' --dry-run=server']) {
      const { code, out } = await stowage(`grant snapshot prod/foo-backup --to test${more}`);
      expect(code).toBe(0);
      expect(out).toMatch(/^referencegrant\.gateway\.networking\.k8s\.io\/bar grants that already/);
    }
    expect(await grants()).toHaveLength(1);
  });

  test.each([
    ['claims', [FROM_CLAIMS, FROM_LINKS]],
    ['links', [FROM_LINKS, FROM_CLAIMS]],
  ])('adds to its own grant for %s what is missing', async (first, from) => {
    await stowage(`grant snapshot prod/foo-backup --to test --for ${first}`);
    expect(await stowage('grant snapshot prod/foo-backup --to test')).toMatchObject({
      code: 0,
      out: `${FULL} changed\n`,
    });
    expect((await grants()).map(({ spec }) => spec)).toEqual([{ from, to: [TO_BACKUP] }]);
  });

  test('adds nothing to one of its name that grants something else by now', async () => {
    const other = { from: [FROM_LINKS], to: [{ ...TO_BACKUP, name: 'secret' }] };
    await make(REFERENCE_GRANTS, grantNamed(NAME, other));
    const { code, err } = await stowage('grant snapshot prod/foo-backup --to test');
    expect(code).toBe(5);
    expect(err).toContain(`ReferenceGrant prod/${NAME} is there already, and was changed since`);
    expect((await grants()).map(({ spec }) => spec)).toEqual([other]);
  });

  test('at the same time as others do', async () => {
    const lines = Array.from({ length: 6 }, (_, index) => `--for ${index % 2 === 0 ? 'claims' : 'links'}`);
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

  test('--dry-run', async () => {
    const { out } = await stowage('grant snapshot prod/foo-backup --to test --dry-run=client -o json');
    expect(JSON.parse(out)).toMatchObject({
      apiVersion: 'gateway.networking.k8s.io/v1beta1',
      metadata: { name: NAME, namespace: 'prod' },
    });
    expect((await stowage('grant snapshot prod/foo-backup --to test --dry-run=server')).out).toBe(
      `${FULL} created (server dry run)\n`,
    );
    expect(await grants()).toEqual([]);
  });

  test.each([
    ['grant snapshot prod/a', '--to'],
    ['grant snapshot prod/a --to test --to other', 'Give it once'],
    ['grant snapshot prod/a --to Test', 'lower-case'],
    ['grant snapshot prod/a --to test --for pods', 'claims, links'],
    ['grant snapshot prod/a/b --to test', 'NAMESPACE/NAME'],
    ['grant snapshot prod/a* --to test', 'not for a part of a name'],
    ['grant snapshot ../a --to test', 'lower-case'],
    ['grant snapshot prod/a --to prod', 'its own snapshots without a grant'],
  ])('%s is wrong usage', async (line, message) => {
    const { code, out, err } = await stowage(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

test('names of grants are those of objects, and no two are the same', () => {
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
  test('takes it back', async () => {
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
    [
      'from',
      {
        from: [FROM_CLAIMS, { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'web' }],
        to: [TO_BACKUP],
      },
    ],
    ['to', { from: [FROM_CLAIMS], to: [TO_BACKUP, { group: '', kind: 'Secret' }] }],
  ])('leaves one whose %s is of others, too', async (_name, spec) => {
    await make(REFERENCE_GRANTS, grantNamed('bar', spec));
    const { code, err } = await stowage('revoke grant prod/bar');
    expect(code).toBe(5);
    expect(err).toContain('kubectl delete referencegrant bar -n prod');
    expect(await grants()).toHaveLength(1);
  });
});

describe('check grant', () => {
  const CHECK = 'check grant --from test --snapshot prod/foo-backup';

  test('granted', async () => {
    await make(REFERENCE_GRANTS, grantNamed('bar', { from: [FROM_CLAIMS], to: [TO_BACKUP] }));
    const { code, out, err } = await stowage(CHECK);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(
      'claims of namespace test may use VolumeSnapshot prod/foo-backup: by ReferenceGrant prod/bar\n',
    );
    expect(out).toContain('links of namespace test may not use VolumeSnapshot prod/foo-backup:\n');
    expect(await stowage(`${CHECK} --for claims`)).toMatchObject({ code: 0 });
    expect(await stowage(`${CHECK} --for links`)).toMatchObject({ code: 4 });
    expect(await stowage('check grant --from other --snapshot prod/foo-backup')).toMatchObject({ code: 4 });
  });

  test('its own namespace', async () => {
    expect(await stowage('check grant --from prod --snapshot prod/foo-backup')).toMatchObject({ code: 0 });
  });

  test('not granted, with what nearly does, also in the wrong namespace', async () => {
    await make(
      REFERENCE_GRANTS,
      grantNamed('baz', { from: [FROM_CLAIMS], to: [{ ...TO_BACKUP, name: 'foo' }] }),
    );
    await make(
      REFERENCE_GRANTS,
      grantNamed('lost', { from: [FROM_CLAIMS], to: [TO_BACKUP] }, { namespace: 'test' }),
    );
    const { code, out, err } = await stowage(`${CHECK} --for claims`);
    expect(code).toBe(4);
    expect(out).toBe(
      `claims of namespace test may not use VolumeSnapshot prod/foo-backup:
  ReferenceGrant prod/baz: to.name is "foo", not "foo-backup"
  ReferenceGrant test/lost: it is in namespace test, and must be in that of the VolumeSnapshot, prod
`,
    );
    expect(err).toContain('stowage grant snapshot prod/foo-backup --to test --for claims');
  });

  test('data', async () => {
    const { code, out, err } = await stowage(`${CHECK} -o json`);
    expect(code).toBe(4);
    expect(JSON.parse(out)).toEqual({
      from: 'test',
      snapshot: { namespace: 'prod', name: 'foo-backup' },
      granted: false,
      checks: [
        { for: 'claims', granted: false, nearMisses: [] },
        { for: 'links', granted: false, nearMisses: [] },
      ],
    });
    expect(JSON.parse(err)).toMatchObject({
      code: 'forbidden',
      object: { name: 'foo-backup', namespace: 'prod' },
    });
    expect(parse((await stowage(`${CHECK} -o yaml`)).out)).toEqual(JSON.parse(out));
    expectSchema('granted', JSON.parse(out));
    await stowage('grant snapshot prod/foo-backup --to test --for links');
    expectSchema('granted', JSON.parse((await stowage(`${CHECK} -o json`)).out));
  });
});

describe('get grants', () => {
  const use = async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    await make(PERSISTENT_VOLUME_CLAIMS, { ...claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }) });
    await make(
      PERSISTENT_VOLUME_CLAIMS,
      claimNamed('not-this', { dataSourceRef: { ...TO_SNAPSHOT, name: 'x' } }),
    );
    await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('nothing'));
    await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('linked', { dataSourceRef: TO_LINK }));
    await make(
      PERSISTENT_VOLUME_CLAIMS,
      claimNamed('linked-own', { dataSourceRef: { ...TO_LINK, name: 'own' } }),
    );
    await make(VOLUME_SNAPSHOT_LINKS, LINK);
    await make(VOLUME_SNAPSHOT_LINKS, { ...LINK, metadata: { ...LINK.metadata, namespace: 'other' } });
    const metadata = { name: 'own', namespace: 'test' };
    await make(VOLUME_SNAPSHOT_LINKS, { ...LINK, metadata, spec: { source: { name: 'foo-backup' } } });
  };

  test('who may, and who does', async () => {
    await use();
    const { code, out, err } = await stowage('get grants -n prod');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [heading = '', row = '', ...more] = out.trimEnd().split('\n');
    expect(more).toEqual([]);
    expect(heading).toMatch(/^NAME +FROM +TO +USED-BY +AGE$/);
    expect(row).toMatch(
      new RegExp(
        `^${NAME} +test \\(claims,links\\) +foo-backup +test/foo-testing, link test/foo-link, test/linked +\\d+s$`,
      ),
    );
    expect((await stowage('get grants -A --no-headers')).out).toMatch(/^prod +/);
    expect((await stowage('get grants -n prod -o name')).out).toBe(`${FULL}\n`);
  });

  test('data', async () => {
    await use();
    const row = {
      name: NAME,
      namespace: 'prod',
      from: [
        { namespace: 'test', for: 'claims' },
        { namespace: 'test', for: 'links' },
      ],
      to: [{ kind: 'VolumeSnapshot', name: 'foo-backup' }],
      usedBy: [
        {
          kind: 'PersistentVolumeClaim',
          namespace: 'test',
          name: 'foo-testing',
          source: 'foo-backup',
          phase: 'Pending',
        },
        { kind: 'VolumeSnapshotLink', namespace: 'test', name: 'foo-link', source: 'foo-backup' },
        {
          kind: 'PersistentVolumeClaim',
          namespace: 'test',
          name: 'linked',
          source: 'foo-backup',
          phase: 'Pending',
          link: 'foo-link',
        },
      ],
      since: expect.any(String),
    };
    expect(JSON.parse((await stowage('get grants -n prod -o json')).out)).toEqual({ items: [row] });
    expectSchema('grant', JSON.parse((await stowage(`get grant ${NAME} -n prod -o json`)).out));
    expect(parse((await stowage(`get grant ${NAME} -n prod -o yaml`)).out)).toEqual(row);
  });

  const watched = (
    more: string[],
    change: (shows: Shows) => Promise<unknown>,
    through?: (client: KubeClient) => KubeClient,
  ) => interrupted(cluster, ['get', 'grants', '-w', '-n', 'prod', ...more], change, through);
  const cells = (lines: readonly string[]) => lines.map((line) => line.split(/ {2,}/).slice(1, 4));

  test('-w shows each grant once more when it or what uses it changes, until interrupted', async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    const { code, err, lines } = await watched(['--no-headers'], async (shows) => {
      await shows('foo-backup');
      await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }));
      await shows('test/foo-testing');
      // What is nobody's use, or another namespace's, changes nothing.
      await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('nothing'));
      await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('x', { dataSourceRef: TO_SNAPSHOT }, 'other'));
      await make(VOLUME_SNAPSHOT_LINKS, LINK);
      await shows('link test/foo-link');
      await client.delete(PERSISTENT_VOLUME_CLAIMS, 'foo-testing', { namespace: 'test' });
      await shows('link test/foo-link', 2);
      await stowage('grant snapshot prod/* --to other');
      await shows('other/x');
      await stowage(`revoke grant prod/${NAME}`);
      await shows('Gone');
    });
    expect({ code, err }).toEqual({ code: 130, err: '' });
    const ours = 'test (claims,links)';
    expect(cells(lines)).toEqual([
      [ours, 'foo-backup', '<none>'],
      [ours, 'foo-backup', 'test/foo-testing'],
      [ours, 'foo-backup', 'test/foo-testing, link test/foo-link'],
      [ours, 'foo-backup', 'link test/foo-link'],
      ['other (claims,links)', '*', 'other/x'],
      ['Gone', 'foo-backup', 'link test/foo-link'],
    ]);
  });

  test('-w of one that is named, as data', async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    await stowage('grant snapshot prod/* --to test');
    const { code, lines } = await watched(['-o', 'json', NAME], async (shows) => {
      await shows(NAME);
      await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }));
      await shows('foo-testing');
    });
    expect(code).toBe(130);
    const documents = lines.join('\n').split(/(?<=^\})\n/m);
    expect(documents.map((text) => JSON.parse(text).usedBy.length)).toEqual([0, 1]);
    expectSchema('grant', JSON.parse(documents[1] ?? ''));
    expect((await cluster.stowage(['get', 'grants', '-w', 'nowhere', '-n', 'prod'])).code).toBe(3);
  });

  test.each([
    ['the user may not read', 403, /^note: not looked at: it is refused\n$/],
    ['the cluster does not know', 404, /^$/],
  ])('-w of users of a kind that %s shows the others, and says so once', async (_, status, said) => {
    await stowage('grant snapshot prod/foo-backup --to test');
    await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }));
    const refused = refusing('list', status, { resource: VOLUME_SNAPSHOT_LINKS, message: 'it is refused' });
    const { code, err } = await watched([], (shows) => shows('test/foo-testing'), refused);
    expect(code).toBe(130);
    expect(err).toMatch(said);
  });

  test('ignores grants of other kinds, and reports that there is none', async () => {
    const from = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'web' };
    await make(REFERENCE_GRANTS, grantNamed('web', { from: [from], to: [{ group: '', kind: 'Service' }] }));
    expect(await stowage('get grants -n prod')).toMatchObject({ code: 0, out: '', err: 'No grants found\n' });
    expect(await stowage('get grants nowhere -n prod')).toMatchObject({ code: 3 });
  });
});

test('a cluster that serves v1beta1 alone', async () => {
  const old = await startClaimsCluster({ grantsIn: 'v1beta1' });
  try {
    expect((await old.stowage('grant snapshot prod/foo-backup --to test'.split(' '))).code).toBe(0);
    const { code } = await old.stowage('check grant --from test --snapshot prod/foo-backup'.split(' '));
    expect(code).toBe(0);
    const { out } = await old.stowage('get grants -A -o json'.split(' '));
    expect(JSON.parse(out).items).toHaveLength(1);
    expect((await old.stowage(['revoke', 'grant', `prod/${NAME}`])).code).toBe(0);
    await expect(old.client.list(REFERENCE_GRANTS)).rejects.toThrow();
  } finally {
    await old.stop();
  }
});

test('a cluster without grants', async () => {
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
