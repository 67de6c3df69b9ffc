import { describe, expect, test } from '@jest/globals';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import type { VolumePopulator } from '../../../src/api/populator.ts';
import { REFERENCE_GRANTS } from '../../../src/api/resources.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from '../../../src/api/snapshot.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { liveReads } from '../../../src/model/data-source/reads.ts';
import { resolve, type SourceReads } from '../../../src/model/data-source/resolve.ts';
import {
  boundClaim,
  CONTENT,
  claimNamed,
  FROM_CLAIMS,
  FROM_LINKS,
  grantNamed,
  LINK,
  LINK_POPULATOR,
  SNAPSHOT,
  TO_BACKUP,
  TO_LINK,
  TO_SNAPSHOT,
} from '../../support/snapshots.ts';

interface There {
  snapshots?: VolumeSnapshot[];
  contents?: VolumeSnapshotContent[];
  links?: VolumeSnapshotLink[];
  claims?: PersistentVolumeClaim[];
  pvs?: PersistentVolume[];
  grants?: ReferenceGrant[];
  /** Absent: the VolumePopulator of links. */
  populators?: VolumePopulator[];
}

/** Returns reads of objects in memory, and records them in order. */
function reading(there: There): { read: SourceReads; seen: string[] } {
  const seen: string[] = [];
  const find = async <T extends KubeObject>(
    all: T[] | undefined,
    kind: string,
    name: string,
    namespace?: string,
  ) => {
    seen.push(`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`);
    return all?.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  };
  const read: SourceReads = {
    snapshot: (namespace, name) => find(there.snapshots, 'snapshot', name, namespace),
    content: (name) => find(there.contents, 'content', name),
    link: (namespace, name) => find(there.links, 'link', name, namespace),
    claim: (namespace, name) => find(there.claims, 'claim', name, namespace),
    persistentVolume: (name) => find(there.pvs, 'pv', name),
    async volumePopulators() {
      seen.push('populators');
      return there.populators ?? [LINK_POPULATOR];
    },
    async grants(namespace) {
      seen.push(`grants ${namespace}`);
      return (there.grants ?? []).filter(({ metadata }) => metadata.namespace === namespace);
    },
  };
  return { read, seen };
}

const claimOf = (dataSourceRef: PersistentVolumeClaim['spec']['dataSourceRef']) =>
  claimNamed('foo-testing', dataSourceRef && { dataSourceRef });
const resolved = (claim: PersistentVolumeClaim, there: There, crossNamespace = true) =>
  resolve({ claim, gate: { crossNamespace }, read: reading(there).read });

const THERE: There = { snapshots: [SNAPSHOT], contents: [CONTENT], links: [LINK] };
const GRANT = grantNamed('bar', { from: [FROM_CLAIMS], to: [TO_BACKUP] });
const LINK_GRANT = grantNamed('bar', { from: [FROM_LINKS], to: [TO_BACKUP] });
const READY = {
  ready: { contentName: 'snapcontent-uid-snapshot', restoreSizeBytes: 1n << 30n },
};

test('a claim without a data source resolves to none', async () => {
  expect(await resolved(claimOf(undefined), THERE)).toEqual({ none: true });
});

test('a claim whose data source was dropped is refused: its volume would be empty', async () => {
  const { read, seen } = reading(THERE);
  const claim = claimOf(undefined);
  const applied = claimOf(TO_SNAPSHOT);
  claim.metadata.annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(applied),
  };
  expect(await resolve({ claim, gate: { crossNamespace: true }, read })).toMatchObject({
    refuse: {
      reason: { code: 'SourceDropped' },
      refusal: expect.stringContaining('applied with data source VolumeSnapshot prod/foo-backup'),
    },
  });
  expect(seen).toEqual([]);
});

test('the hint has no command for a name that a shell would execute', async () => {
  const claim = claimOf({ ...TO_SNAPSHOT, name: 'a; touch /tmp/owned' });
  const found = await resolved(claim, THERE);
  expect(found).toMatchObject({
    wait: {
      reason: { code: 'SourceNameInvalid' },
      hint: 'Correct the name: no VolumeSnapshot can have this one.',
    },
  });
});

test('a source of another populator is returned without reads', async () => {
  const { read, seen } = reading(THERE);
  const claim = claimOf({ apiGroup: 'example.com', kind: 'Image', name: 'a' });
  expect(await resolve({ claim, gate: { crossNamespace: true }, read })).toMatchObject({
    other: { group: 'example.com', objectKind: 'Image', name: 'a' },
  });
  expect(seen).toEqual([]);
});

describe('a snapshot in another namespace', () => {
  test('is usable with a grant', async () => {
    const { read, seen } = reading({ ...THERE, grants: [GRANT] });
    expect(
      await resolve({ claim: claimOf(TO_SNAPSHOT), gate: { crossNamespace: true }, read }),
    ).toEqual(READY);
    expect(seen).toEqual([
      'grants prod',
      'snapshot prod/foo-backup',
      'content snapcontent-uid-snapshot',
    ]);
  });

  test('is neither read nor disclosed without a grant', async () => {
    const denied = {
      wait: {
        reason: {
          code: 'SnapshotGrantMissing',
          parameters: {
            ...{ source: 'prod/foo-backup', namespace: 'prod' },
            ...{ claim: 'test/foo-testing', own: 'test', use: 'claims' },
          },
        },
        refusal:
          "accessing prod/foo-backup of VolumeSnapshot dataSource from test/foo-testing isn't allowed",
        hint: 'Ask an owner of namespace prod to allow it: stowage grant snapshot prod/foo-backup --to test --for claims',
        referent: { ...TO_BACKUP, namespace: 'prod' },
        on: [
          {
            kind: 'ReferenceGrant',
            namespace: 'prod',
            reference: { from: FROM_CLAIMS, to: { ...TO_BACKUP, namespace: 'prod' } },
          },
        ],
      },
    };
    const { read, seen } = reading({ ...THERE, grants: [LINK_GRANT] });
    expect(
      await resolve({ claim: claimOf(TO_SNAPSHOT), gate: { crossNamespace: true }, read }),
    ).toEqual(denied);
    expect(seen).toEqual(['grants prod']);
    // The response is the same if the snapshot does not exist.
    expect(await resolved(claimOf(TO_SNAPSHOT), { grants: [LINK_GRANT] })).toEqual(denied);
  });

  test('is reported as missing only with a grant', async () => {
    expect(await resolved(claimOf(TO_SNAPSHOT), { grants: [GRANT] })).toMatchObject({
      wait: {
        reason: { code: 'SourceMissing' },
        refusal: 'VolumeSnapshot prod/foo-backup does not exist',
        on: [{ kind: 'VolumeSnapshot', namespace: 'prod', name: 'foo-backup' }],
      },
    });
  });

  test('is not read with the feature gate off', async () => {
    const { read, seen } = reading({ ...THERE, grants: [GRANT] });
    const found = await resolve({
      claim: claimOf(TO_SNAPSHOT),
      gate: { crossNamespace: false },
      read,
    });
    expect(found).toMatchObject({ wait: { reason: { code: 'GateOff' }, on: [] } });
    expect(seen).toEqual([]);
  });
});

test('a snapshot in the namespace of the claim needs no grant', async () => {
  const own = { ...SNAPSHOT, metadata: { ...SNAPSHOT.metadata, namespace: 'test' } };
  const ref = { ...CONTENT.spec.volumeSnapshotRef, namespace: 'test' };
  const content = { ...CONTENT, spec: { ...CONTENT.spec, volumeSnapshotRef: ref } };
  for (const namespace of ['test', undefined]) {
    const { read, seen } = reading({ snapshots: [own], contents: [content] });
    const { namespace: _, ...reference } = TO_SNAPSHOT;
    const claim = claimOf({ ...reference, ...(namespace && { namespace }) });
    expect(await resolve({ claim, gate: { crossNamespace: true }, read })).toEqual({
      ready: READY.ready,
    });
    expect(seen).not.toContain('grants test');
  }
});

describe('a VolumeSnapshotLink', () => {
  test('needs a grant for links, but no feature gate, for another namespace', async () => {
    for (const gate of [true, false]) {
      expect(await resolved(claimOf(TO_LINK), { ...THERE, grants: [LINK_GRANT] }, gate)).toEqual(
        READY,
      );
    }
  });

  test('is not allowed by a grant for claims', async () => {
    const { read, seen } = reading({ ...THERE, grants: [GRANT] });
    const found = await resolve({ claim: claimOf(TO_LINK), gate: { crossNamespace: true }, read });
    expect(found).toMatchObject({
      wait: {
        reason: { code: 'SnapshotGrantMissing' },
        hint: expect.stringContaining('--for links'),
        on: [
          { kind: 'ReferenceGrant', namespace: 'prod' },
          { kind: 'VolumeSnapshotLink', namespace: 'test', name: 'foo-link' },
        ],
      },
    });
    expect(seen).toEqual(['populators', 'link test/foo-link', 'grants prod']);
  });

  test.each([[undefined], [''], ['test']])(
    'needs no grant for its own namespace, given as %j',
    async (namespace) => {
      const link = {
        ...LINK,
        spec: { source: { name: 'foo-backup', ...(namespace !== undefined && { namespace }) } },
      };
      expect(await resolved(claimOf(TO_LINK), { links: [link] })).toMatchObject({
        wait: {
          reason: { code: 'SourceMissing' },
          refusal: 'VolumeSnapshot test/foo-backup does not exist',
          on: [{ kind: 'VolumeSnapshot' }, { kind: 'VolumeSnapshotLink' }],
        },
      });
    },
  );

  test.each<[string, VolumeSnapshotLink[]]>([
    ['does not exist', []],
    ['is being deleted', [{ ...LINK, metadata: { ...LINK.metadata, deletionTimestamp: 'x' } }]],
  ])('is reported as missing if it %s', async (_name, links) => {
    expect(
      await resolved(claimOf(TO_LINK), { ...THERE, links, grants: [LINK_GRANT] }),
    ).toMatchObject({
      wait: {
        reason: { code: 'SourceMissing' },
        on: [{ kind: 'VolumeSnapshotLink', namespace: 'test', name: 'foo-link' }],
      },
    });
  });

  test.each<[string, VolumePopulator[]]>([
    ['missing', []],
    [
      'for another kind',
      [{ ...LINK_POPULATOR, sourceKind: { group: 'example.com', kind: 'VolumeSnapshotLink' } }],
    ],
    ['being deleted', [{ ...LINK_POPULATOR, metadata: { name: 'a', deletionTimestamp: 'x' } }]],
  ])(
    'is not read, and the claim waits, if the registered VolumePopulator is %s',
    async (_name, populators) => {
      const { read, seen } = reading({ ...THERE, populators, grants: [LINK_GRANT] });
      expect(
        await resolve({ claim: claimOf(TO_LINK), gate: { crossNamespace: true }, read }),
      ).toMatchObject({
        wait: {
          reason: { code: 'LinksNotRegistered' },
          hint: expect.stringContaining('stowage install --components populator-crds'),
          on: [{ kind: 'VolumePopulator' }],
        },
      });
      expect(seen).toEqual(['populators']);
    },
  );

  test('is left to another populator if links are disabled', async () => {
    const { read, seen } = reading({ ...THERE, grants: [LINK_GRANT] });
    const gate = { crossNamespace: true, links: false };
    expect(await resolve({ claim: claimOf(TO_LINK), gate, read })).toMatchObject({
      other: { objectKind: 'VolumeSnapshotLink', namespace: 'test', name: 'foo-link' },
    });
    expect(seen).toEqual([]);
  });

  test('is refused in another namespace', async () => {
    const { read, seen } = reading({ ...THERE, grants: [GRANT, LINK_GRANT] });
    const claim = claimOf({ ...TO_LINK, namespace: 'prod' });
    expect(await resolve({ claim, gate: { crossNamespace: true }, read })).toMatchObject({
      refuse: { reason: { code: 'LinkElsewhere' } },
    });
    expect(seen).toEqual([]);
  });
});

describe('a clone', () => {
  const { claim: source, pv } = boundClaim('foo', 'test');
  const TO_CLAIM = { kind: 'PersistentVolumeClaim', name: 'foo' };

  test('needs no grant for a claim in its namespace', async () => {
    expect(await resolved(claimOf(TO_CLAIM), { claims: [source], pvs: [pv] })).toEqual({
      ready: { volumeName: 'pvc-foo', restoreSizeBytes: 1n << 30n },
    });
  });

  test('needs a grant for a claim in another namespace', async () => {
    const prod = boundClaim('foo', 'prod');
    const there = { claims: [prod.claim], pvs: [prod.pv] };
    const claim = claimOf({ ...TO_CLAIM, namespace: 'prod' });
    const { read, seen } = reading(there);
    expect(await resolve({ claim, gate: { crossNamespace: true }, read })).toMatchObject({
      wait: {
        reason: { code: 'GrantMissing' },
        refusal:
          "accessing prod/foo of PersistentVolumeClaim dataSource from test/foo-testing isn't allowed",
        hint: 'Create a ReferenceGrant in namespace prod, from PersistentVolumeClaim in test to PersistentVolumeClaim foo.',
      },
    });
    expect(seen).toEqual(['grants prod']);
    const to = { group: '', kind: 'PersistentVolumeClaim', name: 'foo' };
    const grants = [grantNamed('bar', { from: [FROM_CLAIMS], to: [to] })];
    expect(await resolved(claim, { ...there, grants })).toMatchObject({
      ready: { volumeName: 'pvc-foo' },
    });
  });

  test('waits for a missing claim', async () => {
    expect(await resolved(claimOf(TO_CLAIM), {})).toMatchObject({
      wait: {
        reason: { code: 'SourceMissing' },
        on: [{ kind: 'PersistentVolumeClaim', namespace: 'test', name: 'foo' }],
      },
    });
  });
});

describe('live reads', () => {
  const failure = (code: number) =>
    new ApiError({ apiVersion: 'v1', kind: 'Status', status: 'Failure' }, code, 'GET');
  const refusing = (code: number) => {
    const refuse = async () => {
      throw failure(code);
    };
    return { get: refuse, list: refuse } as unknown as KubeClient;
  };

  test('a kind that is not served has no objects', async () => {
    const read = liveReads(refusing(404), [REFERENCE_GRANTS]);
    expect(await read.snapshot('prod', 'a')).toBeUndefined();
    expect(await read.grants('prod')).toEqual([]);
    expect(await liveReads(refusing(500), []).grants('prod')).toEqual([]);
  });

  test('grants are read in the first served version, without their annotations', async () => {
    const grant = {
      metadata: { namespace: 'prod', name: 'g', annotations: { a: 'x'.repeat(250_000) } },
      spec: { from: [], to: [] },
    };
    const list = async ({ version }: Resource) => {
      if (version === 'v1') throw failure(404);
      return { items: [grant], metadata: {} };
    };
    const versions = ['v1', 'v1beta1'].map((version) => ({ ...REFERENCE_GRANTS, version }));
    const read = liveReads({ list } as unknown as KubeClient, versions);
    expect(await read.grants('prod')).toEqual([
      { metadata: { namespace: 'prod', name: 'g' }, spec: { from: [], to: [] } },
    ]);
  });

  test('an error of the server is thrown', async () => {
    const read = liveReads(refusing(503), [REFERENCE_GRANTS]);
    await expect(read.snapshot('prod', 'a')).rejects.toThrow('503');
    await expect(read.grants('prod')).rejects.toThrow('503');
  });

  test.each([
    ['../pods', 'a'],
    ['prod', 'a/status'],
    ['prod', '..'],
    ['prod', ''],
  ])('no request is sent for the invalid name %j/%j', async (namespace, name) => {
    const read = liveReads(refusing(500), [REFERENCE_GRANTS]);
    expect(await read.snapshot(namespace, name)).toBeUndefined();
  });
});
