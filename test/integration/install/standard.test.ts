import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { STANDARD_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import { LAST_INSTALLED } from '../../../src/cli/install/standard.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { outcomesOf, startInstalling } from '../../support/installing.ts';

const ALL = 'snapshot-crds,referencegrant-crd,populator-crds';
const NAMES = Object.values(STANDARD_CRDS).flatMap((crds) =>
  crds.map(({ metadata }) => metadata.name),
);
const SNAPSHOT_CRD = 'volumesnapshots.snapshot.storage.k8s.io';
const THEIRS = 'left unchanged: it is not managed by Stowage';

let installing: Awaited<ReturnType<typeof startInstalling>>;
let client: KubeClient;
let { stowage, exists } = {} as typeof installing;

beforeEach(async () => {
  installing = await startInstalling();
  ({ client, stowage, exists } = installing);
  await installing.removeDefinitions();
});
afterEach(() => installing.stop());

const install = (components = ALL) => stowage(['install', '--components', components]);
const uninstall = (components = ALL) => stowage(['uninstall', '--yes', '--components', components]);
const definition = (name = SNAPSHOT_CRD) =>
  client.get<KubeObject & { spec: { versions: object[] } }>(CUSTOM_RESOURCE_DEFINITIONS, name);
const existing = async () => {
  const found = await Promise.all(NAMES.map((name) => exists(CUSTOM_RESOURCE_DEFINITIONS, name)));
  return NAMES.filter((_, index) => found[index]);
};
const lineOf = (err: string, name: string) =>
  err
    .split('\n')
    .find((line) => line.includes(`/${name} `))
    ?.replace(/^\S+ /, '');

/** Replaces a definition as another project would. Stowage's labels stay. */
async function takeOver(name: string): Promise<void> {
  const { spec } = await definition(name);
  const [version] = spec.versions;
  const versions = [{ ...version, additionalPrinterColumns: [] }, ...spec.versions.slice(1)];
  await client.patch(CUSTOM_RESOURCE_DEFINITIONS, name, { spec: { versions } });
}

async function makeTheirs(
  name: string,
  change: (version: object) => object = (version) => version,
) {
  const found = Object.values(STANDARD_CRDS)
    .flat()
    .find(({ metadata }) => metadata.name === name) as unknown as KubeObject & {
    spec: { versions: object[] };
  };
  const spec = { ...found.spec, versions: found.spec.versions.map(change) };
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, { ...found, spec } as KubeObject);
}

test('standard CRDs are installed only on request', async () => {
  await stowage(['install']);
  expect(await existing()).toEqual([]);
  await install('referencegrant-crd');
  expect(await existing()).toEqual(['referencegrants.gateway.networking.k8s.io']);
  const { code, err } = await install();
  expect({ code, last: err.trim().split('\n').at(-1) }).toEqual({
    code: 0,
    last: 'volumepopulator.populator.storage.k8s.io/volumesnapshotlink created',
  });
  expect(await existing()).toEqual(NAMES);
  expect(await client.get(VOLUME_POPULATORS, 'volumesnapshotlink')).toMatchObject({
    sourceKind: { group: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshotLink' },
  });
  expect(new Set(outcomesOf((await install()).err))).toEqual(new Set(['unchanged']));
});

test('a CRD that Stowage installed is upgraded', async () => {
  await install();
  const current = await definition();
  // A definition that an earlier version of Stowage installed with other fields.
  const earlier = JSON.parse(current.metadata.annotations?.[LAST_INSTALLED] ?? '');
  earlier.spec.versions[0].additionalPrinterColumns.pop();
  const { versions } = earlier.spec;
  const annotations = { [LAST_INSTALLED]: JSON.stringify(earlier) };
  await client.patch(CUSTOM_RESOURCE_DEFINITIONS, SNAPSHOT_CRD, {
    metadata: { annotations },
    spec: { versions },
  });
  expect(lineOf((await install()).err, SNAPSHOT_CRD)).toBe('changed');
  expect((await definition()).spec).toEqual(current.spec);
  expect(lineOf((await install()).err, SNAPSHOT_CRD)).toBe('unchanged');
});

describe('a standard CRD of another project', () => {
  test('is neither changed nor removed', async () => {
    await makeTheirs(SNAPSHOT_CRD);
    const before = await definition();
    const { code, err } = await install();
    expect({ code, line: lineOf(err, SNAPSHOT_CRD) }).toEqual({ code: 0, line: THEIRS });
    expect(err).not.toContain('note:');
    expect((await definition()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect((await uninstall()).code).toBe(0);
    expect(await existing()).toEqual([SNAPSHOT_CRD]);
  });

  test('is reported if it lacks a version that Stowage requires', async () => {
    await makeTheirs(SNAPSHOT_CRD, (version) => ({ ...version, name: 'v1beta1' }));
    expect((await install('snapshot-crds')).err).toContain(
      'note: it serves v1beta1, but Stowage requires v1: upgrade it with the tool that installed it\n',
    );
  });

  test('is left unchanged if it replaced the one of Stowage', async () => {
    await install();
    await takeOver(SNAPSHOT_CRD);
    const before = await definition();
    expect(lineOf((await install()).err, SNAPSHOT_CRD)).toBe(THEIRS);
    await uninstall();
    expect((await definition()).metadata).toEqual(before.metadata);
    expect(await existing()).toEqual([SNAPSHOT_CRD]);
  });

  test('is recognized by an additional version', async () => {
    await install();
    const { spec } = await definition();
    const more = { ...spec.versions[0], name: 'v2', storage: false };
    await client.patch(CUSTOM_RESOURCE_DEFINITIONS, SNAPSHOT_CRD, {
      spec: { versions: [...spec.versions, more] },
    });
    expect(lineOf((await install()).err, SNAPSHOT_CRD)).toBe(THEIRS);
  });

  test('a foreign VolumePopulator blocks the removal of all CRDs', async () => {
    await install();
    const metadata = { name: 'theirs' };
    const sourceKind = { group: 'example.com', kind: 'Backup' };
    const { apiVersion, kind } = {
      apiVersion: 'populator.storage.k8s.io/v1beta1',
      kind: 'VolumePopulator',
    };
    await client.create(VOLUME_POPULATORS, {
      apiVersion,
      kind,
      metadata,
      sourceKind,
    } as KubeObject);
    const { code, err } = await uninstall();
    expect(code).toBe(5);
    expect(err).toContain('there are 1 VolumePopulator (theirs)');
    expect(await exists(VOLUME_POPULATORS, 'volumesnapshotlink')).toBe(true);
    expect(await existing()).toEqual(NAMES);
  });
});

test('uninstall removes the standard CRDs, and objects that Stowage created of them', async () => {
  await stowage(['install']);
  await install();
  const { code, err } = await stowage(['uninstall', '--yes']);
  expect(code).toBe(0);
  expect(err).toContain('volumepopulator.populator.storage.k8s.io/volumesnapshotlink removed\n');
  expect(await existing()).toEqual([]);
});

test('uninstall refuses to remove CRDs that have objects', async () => {
  await install();
  const apiVersion = 'snapshot.storage.k8s.io/v1';
  const spec = { source: { persistentVolumeClaimName: 'c' } };
  await client.create(
    VOLUME_SNAPSHOTS,
    { apiVersion, kind: 'VolumeSnapshot', metadata: { name: 's' }, spec } as KubeObject,
    { namespace: 'default' },
  );
  const { code, err } = await uninstall();
  expect(code).toBe(5);
  expect(err).toContain('there are 1 VolumeSnapshot (default/s)');
  expect(await existing()).toEqual(NAMES);
  expect((await uninstall('referencegrant-crd,populator-crds')).code).toBe(0);
  expect(await exists(VOLUME_SNAPSHOT_CLASSES, 'none')).toBe(false);
  expect(await existing()).toHaveLength(4);
});

test('--dry-run=server reports an object whose kind does not exist yet', async () => {
  const { code, err } = await stowage(['install', '--dry-run=server', '--components', ALL]);
  expect(code).toBe(0);
  expect(lineOf(err, SNAPSHOT_CRD)).toBe('created (server dry run)');
  expect(lineOf(err, 'volumesnapshotlink')).toBe(
    'created, unchecked: its kind does not exist yet (server dry run)',
  );
  expect(await existing()).toEqual([]);
});
