import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import {
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_LINKS,
} from '../../../src/api/resources.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { interrupted, type Shows } from '../../support/captured-terminal.ts';
import { expectSchema } from '../../support/output-page.ts';
import { refusing } from '../../support/refusals.ts';
import {
  claimNamed,
  FROM_CLAIMS,
  grantNamed,
  LINK,
  TO_BACKUP,
  TO_LINK,
  TO_SNAPSHOT,
} from '../../support/snapshots.ts';
import { FULL, grantsScene, NAME } from './grants-scene.ts';

const { cluster, make, stowage } = grantsScene();

describe('get grants', () => {
  const use = async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    await make(PERSISTENT_VOLUME_CLAIMS, {
      ...claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }),
    });
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
    await make(VOLUME_SNAPSHOT_LINKS, {
      ...LINK,
      metadata: { ...LINK.metadata, namespace: 'other' },
    });
    const metadata = { name: 'own', namespace: 'test' };
    await make(VOLUME_SNAPSHOT_LINKS, {
      ...LINK,
      metadata,
      spec: { source: { name: 'foo-backup' } },
    });
  };

  test('lists granted namespaces and snapshots, and the claims and links in use', async () => {
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

  test('prints grants as JSON and YAML that match the schema', async () => {
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

  test('-w prints a grant again when it or its users change, until interrupted', async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    const { code, err, lines } = await watched(['--no-headers'], async (shows) => {
      await shows('foo-backup');
      await make(
        PERSISTENT_VOLUME_CLAIMS,
        claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }),
      );
      await shows('test/foo-testing');
      // Claims that use no grant, or that are in another namespace, change nothing.
      await make(PERSISTENT_VOLUME_CLAIMS, claimNamed('nothing'));
      await make(
        PERSISTENT_VOLUME_CLAIMS,
        claimNamed('x', { dataSourceRef: TO_SNAPSHOT }, 'other'),
      );
      await make(VOLUME_SNAPSHOT_LINKS, LINK);
      await shows('link test/foo-link');
      await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, 'foo-testing', { namespace: 'test' });
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

  test('-w -o json with a name prints only that grant', async () => {
    await stowage('grant snapshot prod/foo-backup --to test');
    await stowage('grant snapshot prod/* --to test');
    const { code, lines } = await watched(['-o', 'json', NAME], async (shows) => {
      await shows(NAME);
      await make(
        PERSISTENT_VOLUME_CLAIMS,
        claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }),
      );
      await shows('foo-testing');
    });
    expect(code).toBe(130);
    const documents = lines.join('\n').split(/(?<=^\})\n/m);
    expect(documents.map((text) => JSON.parse(text).usedBy.length)).toEqual([0, 1]);
    expectSchema('grant', JSON.parse(documents[1] ?? ''));
    expect((await cluster.stowage(['get', 'grants', '-w', 'nowhere', '-n', 'prod'])).code).toBe(3);
  });

  test.each([
    ['the user may not read', 403, /^note: not checked: it is refused\n$/],
    ['the cluster does not know', 404, /^$/],
  ])(
    '-w omits users of a kind that %s, and prints at most one note about that',
    async (_, status, said) => {
      await stowage('grant snapshot prod/foo-backup --to test');
      await make(
        PERSISTENT_VOLUME_CLAIMS,
        claimNamed('foo-testing', { dataSourceRef: TO_SNAPSHOT }),
      );
      const refused = refusing('list', status, {
        resource: VOLUME_SNAPSHOT_LINKS,
        message: 'it is refused',
      });
      const { code, err } = await watched([], (shows) => shows('test/foo-testing'), refused);
      expect(code).toBe(130);
      expect(err).toMatch(said);
    },
  );

  test('ignores grants of other kinds, and reports that there is none', async () => {
    const from = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'web' };
    await make(
      REFERENCE_GRANTS,
      grantNamed('web', { from: [from], to: [{ group: '', kind: 'Service' }] }),
    );
    expect(await stowage('get grants -n prod')).toMatchObject({
      code: 0,
      out: '',
      err: 'No grants found\n',
    });
    expect(await stowage('get grants nowhere -n prod')).toMatchObject({ code: 3 });
  });
});

describe('check grant', () => {
  const CHECK = 'check grant --from test --snapshot prod/foo-backup';

  test('exits with 0 and names the grant if access is granted, else with 4', async () => {
    await make(REFERENCE_GRANTS, grantNamed('bar', { from: [FROM_CLAIMS], to: [TO_BACKUP] }));
    const { code, out, err } = await stowage(CHECK);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(
      'claims of namespace test may use VolumeSnapshot prod/foo-backup: by ReferenceGrant prod/bar\n',
    );
    expect(out).toContain('links of namespace test may not use VolumeSnapshot prod/foo-backup:\n');
    expect(await stowage(`${CHECK} --for claims`)).toMatchObject({ code: 0 });
    expect(await stowage(`${CHECK} --for links`)).toMatchObject({ code: 4 });
    expect(await stowage('check grant --from other --snapshot prod/foo-backup')).toMatchObject({
      code: 4,
    });
  });

  test('needs no grant within the namespace of the snapshot', async () => {
    expect(await stowage('check grant --from prod --snapshot prod/foo-backup')).toMatchObject({
      code: 0,
    });
  });

  test('exits with 4 and lists near misses, also in the wrong namespace', async () => {
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
  ReferenceGrant test/lost: it is in namespace test, but must be in namespace prod of the VolumeSnapshot
`,
    );
    expect(err).toContain('stowage grant snapshot prod/foo-backup --to test --for claims');
  });

  test('prints the result as JSON and YAML that match the schema', async () => {
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
