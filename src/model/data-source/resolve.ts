import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import { SNAPSHOT_GROUP } from '../../api/names.ts';
import type { VolumePopulator } from '../../api/populator.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import { VOLUME_SNAPSHOT_LINKS } from '../../api/resources.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from '../../api/snapshot.ts';
import { checkSourceClaim } from './check-claim.ts';
import { checkSnapshot } from './check-snapshot.ts';
import { type DataSource, dataSourceOf, type SourceGates } from './data-source.ts';
import { isGranted, type Referent, type Referrer } from './grant.ts';
import type { Held, Obstacle } from './types.ts';

/** Live reads: a cache may predate the withdrawal of a grant. undefined or none: no such object. */
export interface SourceReads {
  snapshot(namespace: string, name: string): Promise<VolumeSnapshot | undefined>;
  content(name: string): Promise<VolumeSnapshotContent | undefined>;
  link(namespace: string, name: string): Promise<VolumeSnapshotLink | undefined>;
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  persistentVolume(name: string): Promise<PersistentVolume | undefined>;
  /** Reads the objects in which administrators list the kinds that volumes are filled from. */
  volumePopulators(): Promise<readonly VolumePopulator[]>;
  grants(namespace: string): Promise<readonly ReferenceGrant[]>;
}

/** Source that fills a volume. */
export type ReadySource = ({ contentName: string } | { volumeName: string }) & {
  /** Bytes; 0 if the size is unknown. */
  restoreSizeBytes: bigint;
};

export type Resolution =
  | { none: true }
  | { ready: ReadySource }
  | { other: Extract<DataSource, { kind: 'other' }> }
  | Held;

interface ResolveOptions {
  claim: PersistentVolumeClaim;
  gate: SourceGates;
  read: SourceReads;
}

/**
 * Returns the source from which a claim's volume can be provisioned now. A source in another
 * namespace needs a grant before anything else is read there, so that users without one learn
 * nothing. Throws errors of the reads.
 */
export async function resolve({ claim, gate, read }: ResolveOptions): Promise<Resolution> {
  const source = dataSourceOf(claim, gate);
  switch (source.kind) {
    case 'none':
      return { none: true };
    case 'other':
      return { other: source };
    case 'dropped':
      return { refuse: droppedBy(source) };
    case 'gate-off':
      return { wait: gateOff(source, claim) };
    case 'claim':
      return fromClaim(claim, source, read);
    case 'snapshot': {
      const from = { group: '', kind: 'PersistentVolumeClaim', namespace: ownOf(claim) };
      return fromSnapshot(claim, source, from, read);
    }
    case 'link':
      return fromLink(claim, source, read);
  }
}

async function fromClaim(
  claim: PersistentVolumeClaim,
  { namespace, name }: { namespace: string; name: string },
  read: SourceReads,
): Promise<Resolution> {
  const from = { group: '', kind: 'PersistentVolumeClaim', namespace: ownOf(claim) };
  const to = { group: '', kind: 'PersistentVolumeClaim', namespace, name };
  const denied = await deniedBy(claim, from, to, read);
  if (denied !== undefined) return denied;
  const source = await read.claim(namespace, name);
  if (source === undefined) return notFound('PersistentVolumeClaim', namespace, name);
  const { volumeName } = source.spec;
  const pv = volumeName ? await read.persistentVolume(volumeName) : undefined;
  return readyOf(checkSourceClaim(source, pv, claim));
}

async function fromLink(
  claim: PersistentVolumeClaim,
  { namespace, name }: { namespace: string; name: string },
  read: SourceReads,
): Promise<Resolution> {
  const own = ownOf(claim);
  if (namespace !== own) {
    // No grant can allow this: a link's target is granted to the link's namespace.
    const link = `${namespace}/${name}`;
    return { refuse: { ...refuse('LinkElsewhere', { link, namespace, own }), on: [] } };
  }
  if (!fillsFromLinks(await read.volumePopulators())) return linksNotRegistered(own, name);
  const link = await read.link(own, name);
  if (link === undefined || link.metadata.deletionTimestamp !== undefined)
    return notFound('VolumeSnapshotLink', own, name);
  const { source } = link.spec;
  const from = { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshotLink', namespace: own };
  const target = { namespace: source.namespace || own, name: source.name };
  const found = await fromSnapshot(claim, target, from, read);
  const held = 'wait' in found ? found.wait : 'refuse' in found ? found.refuse : undefined;
  // A link that is deleted and created again can lead elsewhere.
  held?.on.push({ kind: 'VolumeSnapshotLink', namespace: own, name });
  return found;
}

/** Reports whether links are enabled: KEP-3294 requires a VolumePopulator of the kind. Pure. */
export const fillsFromLinks = (populators: readonly VolumePopulator[]): boolean =>
  populators.some(
    ({ metadata, sourceKind }) =>
      metadata.deletionTimestamp === undefined &&
      sourceKind.group === VOLUME_SNAPSHOT_LINKS.group &&
      sourceKind.kind === VOLUME_SNAPSHOT_LINKS.kind,
  );

const linksNotRegistered = (namespace: string, name: string): Held => ({
  wait: {
    ...refuse('LinksNotRegistered', { link: `${namespace}/${name}` }),
    on: [{ kind: 'VolumePopulator' }],
  },
});

async function fromSnapshot(
  claim: PersistentVolumeClaim,
  { namespace, name }: { namespace: string; name: string },
  from: Referrer,
  read: SourceReads,
): Promise<Resolution> {
  const to = { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshot', namespace, name };
  const denied = await deniedBy(claim, from, to, read);
  if (denied !== undefined) return denied;
  const snapshot = await read.snapshot(namespace, name);
  if (snapshot === undefined) return notFound('VolumeSnapshot', namespace, name);
  const bound = snapshot.status?.boundVolumeSnapshotContentName;
  const content = bound ? await read.content(bound) : undefined;
  return readyOf(checkSnapshot(snapshot, content, claim));
}

const readyOf = (
  found: { usable: { contentName: string } | { volumeName: string } } | Held,
): Resolution => ('usable' in found ? { ready: found.usable as ReadySource } : found);

/**
 * Returns the obstacle if no grant allows a reference. The referrer's own namespace needs no grant,
 * as in external-provisioner (unlike the KEP's fourth case).
 */
export async function deniedBy(
  claim: PersistentVolumeClaim,
  from: Referrer,
  to: Referent,
  read: Pick<SourceReads, 'grants'>,
): Promise<Held | undefined> {
  if (to.namespace === from.namespace) return undefined;
  if (isGranted(await read.grants(to.namespace), from, to)) return undefined;
  return {
    wait: {
      ...grantMissing(claim, from, to),
      referent: to,
      on: [{ kind: 'ReferenceGrant', namespace: to.namespace, reference: { from, to } }],
    },
  };
}

/**
 * Returns the refusal for a missing grant, in external-provisioner's wording, which people search
 * for. The refusal includes what the owner of the other namespace can do. An impossible name gets a
 * refusal of its own, since a shell could run the name as a command.
 */
export function grantMissing(
  { metadata }: Pick<PersistentVolumeClaim, 'metadata'>,
  from: Referrer,
  { kind, namespace, name }: Referent,
): Refused {
  const [source, claim] = [`${namespace}/${name}`, `${metadata.namespace ?? ''}/${metadata.name}`];
  if (![namespace, name].every(isDnsSubdomain)) {
    return refuse('SourceNameInvalid', { source, kind, claim });
  }
  const own = from.namespace;
  return kind === 'VolumeSnapshot'
    ? refuse('SnapshotGrantMissing', {
        ...{ source, claim, namespace, own },
        use: from.kind === 'VolumeSnapshotLink' ? 'links' : 'claims',
      })
    : refuse('GrantMissing', { source, kind, claim, namespace, from: from.kind, own, name });
}

export function gateOff(
  { objectKind, namespace, name }: Extract<DataSource, { kind: 'gate-off' }>,
  claim: PersistentVolumeClaim,
): Obstacle {
  const source = `${namespace}/${name}`;
  return {
    ...refuse('GateOff', { kind: objectKind, source, namespace: ownOf(claim) }),
    on: [],
  };
}

/** Returns why nothing is provisioned for a claim whose source the API server dropped. */
export const droppedBy = ({
  objectKind,
  namespace,
  name,
}: Extract<DataSource, { kind: 'dropped' }>): Obstacle => ({
  ...refuse('SourceDropped', { kind: objectKind, source: `${namespace}/${name}` }),
  on: [],
});

function notFound(
  kind: 'VolumeSnapshot' | 'VolumeSnapshotLink' | 'PersistentVolumeClaim',
  namespace: string,
  name: string,
): Held {
  const refused = refuse('SourceMissing', { kind, source: `${namespace}/${name}` });
  return { wait: { ...refused, on: [{ kind, namespace, name }] } };
}

const ownOf = ({ metadata }: Pick<PersistentVolumeClaim, 'metadata'>): string =>
  metadata.namespace ?? '';
