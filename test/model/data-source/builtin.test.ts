import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { PopulatorDefinition } from '../../../src/api/populator.ts';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { type BuiltinReads, resolveBuiltin } from '../../../src/model/data-source/builtin.ts';
import { claimNamed, grantNamed } from '../../support/snapshots.ts';

const definition = (
  name: string,
  by: object = { node: { builtin: 'Image' } },
): PopulatorDefinition => ({
  ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'PopulatorDefinition', metadata: { name } },
  spec: {
    sourceKind: { group: 'stowage.dev', kind: 'Image' },
    resource: { version: 'v1alpha1', plural: 'images', scope: 'Namespaced' },
    ...by,
  },
});
const image = (
  spec: object = { source: { url: 'https://a.example/b.zst' } },
  metadata = {},
): KubeObject =>
  ({
    ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'Image' },
    ...{ metadata: { name: 'debian', namespace: 'prod', uid: 'image-uid', ...metadata }, spec },
  }) as KubeObject;
const GRANT = grantNamed('images', {
  from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'test' }],
  to: [{ group: 'stowage.dev', kind: 'Image' }],
} as never);

const reads = (
  there: {
    definitions?: PopulatorDefinition[];
    object?: Awaited<ReturnType<BuiltinReads['object']>>;
    granted?: boolean;
  },
  seen: string[],
): BuiltinReads => ({
  definitions: async () => there.definitions ?? [definition('image')],
  grants: async (namespace) => {
    seen.push('grants');
    return there.granted ? [{ ...GRANT, metadata: { ...GRANT.metadata, namespace } }] : [];
  },
  object: async (resource, namespace, name) => {
    seen.push(`${resource.plural} ${namespace}/${name}`);
    return there.object ?? { found: image() };
  },
});

const other = (namespace: string) =>
  ({
    kind: 'other',
    group: 'stowage.dev',
    objectKind: 'Image',
    namespace,
    name: 'debian',
  }) as const;
const resolved = (
  there: Parameters<typeof reads>[0],
  { crossNamespace = true, from = 'prod' } = {},
  seen: string[] = [],
) => {
  const claim = claimNamed(`${from}/c`, {});
  claim.metadata.namespace = from;
  return resolveBuiltin(claim, other('prod'), { crossNamespace }, reads(there, seen));
};

test('returns the populator, its options and the UID of the source', async () => {
  expect(await resolved({})).toEqual({
    ready: {
      populator: {
        ...{ builtin: 'Image', namespace: 'prod', name: 'debian' },
        options: { source: 'https://a.example/b.zst', compression: 'zstd', format: 'raw' },
      },
      ...{ uid: 'image-uid' },
    },
  });
});

test.each([
  ['no definition', []],
  ['a definition for pods', [definition('image', { pod: { image: 'x', mountPath: '/mnt' } })]],
  [
    'a definition that is being deleted',
    [{ ...definition('image'), metadata: { name: 'image', deletionTimestamp: 'x' } }],
  ],
])('finds no populator with %s, and waits for another definition', async (_, definitions) => {
  expect(await resolved({ definitions })).toEqual({
    none: true,
    on: [{ kind: 'PopulatorDefinition' }],
  });
});

test('another namespace requires the gate and a grant, checked before the source', async () => {
  const seen: string[] = [];
  const off = await resolved({}, { from: 'test', crossNamespace: false }, seen);
  expect(off).toMatchObject({ wait: { reason: { code: 'GateOff' } } });
  expect(await resolved({}, { from: 'test' }, seen)).toMatchObject({
    wait: {
      reason: { code: 'GrantMissing' },
      refusal: expect.stringContaining("isn't allowed"),
      on: [{ kind: 'ReferenceGrant' }],
    },
  });
  expect(seen).toEqual(['grants']);
  expect(await resolved({ granted: true }, { from: 'test' }, seen)).toMatchObject({
    ready: { uid: 'image-uid' },
  });
});

test.each<[string, Parameters<typeof reads>[0], string, ReasonCode?]>([
  [
    'two definitions',
    { definitions: [definition('a'), definition('b')] },
    'more than one PopulatorDefinition is for Image.stowage.dev: a, b',
    'DefinitionsCompete',
  ],
  [
    'a built-in of a later version',
    { definitions: [definition('a', { node: { builtin: 'Torrent' } })] },
    'names built-in Torrent',
    'BuiltinUnknown',
  ],
  [
    'no object',
    { object: { found: undefined } },
    'Image prod/debian does not exist',
    'SourceMissing',
  ],
  [
    'an object that is being deleted',
    { object: { found: image({}, { deletionTimestamp: 'x' }) } },
    'Image prod/debian is being deleted',
    'SourceBeingDeleted',
  ],
  [
    'a kind that is not served',
    { object: { missing: true } },
    'names images in stowage.dev/v1alpha1, which the API server does not serve',
    'KindNotServed',
  ],
  [
    'a forbidden kind',
    { object: { forbidden: true } },
    'the daemon may not read images',
    'KindForbidden',
  ],
  [
    'an empty source',
    { object: { found: image({}) } },
    'spec.source must have exactly one of url and path',
  ],
  [
    'a URL of another scheme',
    { object: { found: image({ source: { url: 'ftp://a' } }) } },
    'must be an http or https URL',
  ],
  [
    'a URL with a user',
    { object: { found: image({ source: { url: 'http://a@b/' } }) } },
    'without a user',
  ],
  [
    'a URL with a space',
    { object: { found: image({ source: { url: 'http://b/ --x' } }) } },
    'without spaces',
  ],
  [
    'a path that is not absolute',
    { object: { found: image({ source: { path: 'a' } }) } },
    'must be an absolute path',
  ],
  [
    'an invalid checksum',
    { object: { found: image({ source: { path: '/a', sha256: 'x' } }) } },
    '64 hexadecimal digits',
  ],
  [
    'an unsupported format',
    { object: { found: image({ source: { path: '/a' }, format: 'auto' }) } },
    'spec.format must be',
  ],
  [
    'an unknown compression',
    { object: { found: image({ source: { path: '/a' }, compression: 'lz4' }) } },
    'spec.compression must be',
  ],
  [
    'a URL with an unsupported extension',
    { object: { found: image({ source: { url: 'https://a/disk.raw.lzma?v=1' } }) } },
    'spec.source.url names a .lzma file, which cannot be unpacked',
  ],
  [
    'a path with an unsupported extension',
    { object: { found: image({ source: { path: '/srv/disk.zip' } }) } },
    'spec.source.path names a .zip file, which cannot be unpacked',
  ],
])('the claim waits and reports %s', async (_, there, message, code = 'SourceUnusable') => {
  const found = await resolved(there);
  expect(found).toMatchObject({
    wait: { refusal: expect.stringContaining(message), reason: { code } },
  });
  expect('wait' in found && found.wait.on).toContainEqual({ kind: 'PopulatorDefinition' });
});

test.each([
  ['https://a/b.raw.gz?x=.zst', 'gzip'],
  ['https://a/b.zst#x', 'zstd'],
  ['https://a/b.raw.xz', 'xz'],
  ['https://a/b.tar.bz2', 'bzip2'],
  ['https://a/b.txz', 'xz'],
  ['https://a/b', undefined],
  ['https://a.xz/b', undefined],
  ['https://a/b.raw', undefined],
  ['/srv/b?.zst', 'zstd'],
  ['/srv/v1.gz/b', undefined],
])('the file extension determines the compression: %s', async (place, compression) => {
  const source = place.startsWith('/') ? { path: place } : { url: place };
  const found = await resolved({ object: { found: image({ source }) } });
  const { options } = 'ready' in found ? (found.ready.populator ?? {}) : {};
  expect(options?.source).toBe(place);
  expect(options?.compression).toBe(compression);
});

test.each(['none', 'xz'])(
  'a declared compression overrides the file extension: %s',
  async (compression) => {
    const found = image({ source: { url: 'https://a/b.zip' }, compression });
    expect(await resolved({ object: { found } })).toMatchObject({
      ready: { populator: { options: { compression } } },
    });
  },
);

test('a Backup of another volume mode is not used', async () => {
  const spec = { to: { path: '/srv/a.tar.zst' } };
  const status = { phase: 'Completed', sha256: 'a'.repeat(64), volumeMode: 'Block' };
  const found = { ...image(spec), status } as KubeObject;
  const definitions = [definition('backup', { node: { builtin: 'Backup' } })];
  expect(await resolved({ definitions, object: { found } })).toMatchObject({
    wait: {
      reason: { code: 'SourceOfOtherMode' },
      refusal:
        'Image prod/debian needs a claim of volume mode Block, and this claim has Filesystem',
    },
  });
});
