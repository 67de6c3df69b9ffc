import type { DataSourceReference, PersistentVolumeClaim } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { apiVersionOf, type Resource } from '../../../api/meta.ts';
import type { VolumePopulator } from '../../../api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_LINKS,
} from '../../../api/resources.ts';
import type { VolumeSnapshotLink } from '../../../api/snapshot.ts';
import { listAll } from '../../../kube/client.ts';
import type { Connection } from '../../../kube/connect.ts';
import { servedAs } from '../../../kube/discovery.ts';
import { isAlreadyExists, isNotFound } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { fillsFromLinks } from '../../../model/data-source/resolve.ts';
import type { Io } from '../../lib/io.ts';
import { followsLinks, followsNamespaces, leadersIn, readLeases } from '../../lib/leaders.ts';
import { printable } from '../../lib/output/printable.ts';
import { foundIn, reading } from '../../lib/read-result.ts';
import { isAcross, isKept, toLink, toSnapshot, type Wanted } from './claim.ts';

/** Path from a claim to a snapshot: the claim names the snapshot, or a link to it. */
export interface Way {
  reference: DataSourceReference;
  /** undefined for a direct reference. */
  link: Resource | undefined;
  /** Claim as the server would store it. */
  tried: PersistentVolumeClaim;
}

/**
 * Returns the path that the cluster supports, found by dry runs: only these show whether an API
 * server keeps a reference. The leading daemon declares which references it follows. Throws a
 * StowageError if there is no path.
 */
export async function wayFor(
  wanted: Wanted,
  claimWith: (reference: DataSourceReference) => PersistentVolumeClaim,
  { client, transport }: Connection,
  io: Io,
): Promise<Way> {
  const { signal } = io;
  const attempt = async (reference: DataSourceReference, link: Resource | undefined) => {
    const options = { dryRun: true, strict: true, signal };
    const tried = await client.create(PERSISTENT_VOLUME_CLAIMS, claimWith(reference), options);
    return isKept(tried, reference) ? { reference, link, tried } : undefined;
  };
  const direct = await attempt(toSnapshot(wanted), undefined);
  if (direct === undefined && !isAcross(wanted)) throw dropped(wanted);
  const daemon = isAcross(wanted) ? await asksDaemon(client, io, direct !== undefined) : undefined;
  if (direct !== undefined && daemon?.namespaces !== false) return direct;
  const { version } = VOLUME_SNAPSHOT_LINKS;
  const link = await servedAs(transport, VOLUME_SNAPSHOT_LINKS, [version], signal);
  const isAllowed =
    link !== undefined && daemon?.links !== false && (await isRegistered(client, signal));
  const linked = isAllowed ? await attempt(toLink(wanted), link) : undefined;
  if (linked !== undefined) return linked;
  const who = direct === undefined ? 'its API server drops' : 'its daemon does not follow';
  const whose = direct === undefined ? 'of kube-apiserver' : 'of the daemon';
  throw new StowageError(
    'failed',
    `This cluster cannot restore to another namespace: ${who} spec.dataSourceRef.namespace, and ${withoutLinks(link !== undefined, isAllowed, daemon?.links)}`,
    {
      hint: `Enable the feature gate CrossNamespaceVolumeDataSource ${whose}, or enable links: stowage install ${daemon?.links === false ? '--cross-namespace-snapshot=true' : '--components snapshot-crds,populator-crds'}`,
    },
  );
}

function withoutLinks(
  isServed: boolean,
  isAllowed: boolean,
  isFollowed: boolean | undefined,
): string {
  if (!isServed) return 'it has no VolumeSnapshotLinks';
  if (isAllowed) return 'drops a reference to a VolumeSnapshotLink, too';
  return isFollowed === false
    ? 'its daemon follows no VolumeSnapshotLinks (--cross-namespace-snapshot=false)'
    : 'it has no VolumePopulator for VolumeSnapshotLinks';
}

/**
 * Reports whether a VolumePopulator is for links. Returns true if the user may not list them: a
 * waiting claim reports the reason.
 */
async function isRegistered(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const populators = await reading(listAll<VolumePopulator>(client, VOLUME_POPULATORS, { signal }));
  return 'forbidden' in populators || fillsFromLinks(foundIn(populators)?.items ?? []);
}

/**
 * Reports whether the daemon follows references to other namespaces and to links; undefined if
 * unknown. Prints a note for unreadable Leases if that matters.
 */
async function asksDaemon(
  client: KubeClient,
  io: Io,
  matters: boolean,
): Promise<{ namespaces: boolean | undefined; links: boolean | undefined }> {
  const leases = await readLeases(client, io.signal);
  if ('forbidden' in leases && matters) {
    io.stderr.write(
      printable(
        `note: not known whether the daemon follows references to other namespaces: ${leases.forbidden}\n`,
      ),
    );
  }
  const leaders = leadersIn(foundIn(leases) ?? [], io.clock.timeOfDay());
  return { namespaces: followsNamespaces(leaders), links: followsLinks(leaders) };
}

/**
 * Creates the claim, and its link if it uses one. Deletes the claim on any error, such as a dropped
 * reference: it would be bound to an empty volume.
 */
export async function make(
  wanted: Wanted,
  claim: PersistentVolumeClaim,
  { reference, link }: Way,
  io: Io,
  client: KubeClient,
): Promise<PersistentVolumeClaim> {
  const { signal } = io;
  const { namespace, name } = wanted.claim;
  if (link !== undefined) await refuseOtherLink(wanted, link, io, client);
  const made = await client.create(PERSISTENT_VOLUME_CLAIMS, claim, { strict: true, signal });
  try {
    const options = { namespace, signal };
    const stored = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, options);
    if (stored.metadata.uid === made.metadata.uid && !isKept(stored, reference))
      throw dropped(wanted);
    if (link !== undefined) await makeLink(wanted, stored, link, io, client);
    return stored;
  } catch (error) {
    const { uid } = made.metadata;
    await client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace, uid }).catch((cause) => {
      if (isNotFound(cause)) return;
      throw new StowageError(
        'failed',
        `PersistentVolumeClaim ${namespace}/${name} could not be deleted again, and may be bound to an empty volume`,
        { hint: `Delete it: kubectl delete pvc ${name} -n ${namespace}`, cause: error },
      );
    });
    throw error;
  }
}

const dropped = ({ claim: { namespace, name } }: Wanted): StowageError =>
  new StowageError(
    'failed',
    `The API server dropped spec.dataSourceRef of PersistentVolumeClaim ${namespace}/${name}: the claim would be bound to an empty volume, and was not kept`,
    {
      hint: 'Check the feature gates and admission webhooks of the API server.',
      object: { kind: 'PersistentVolumeClaim', namespace, name },
    },
  );

const leadsThere = ({ spec }: VolumeSnapshotLink, { snapshot, claim }: Wanted): boolean =>
  (spec.source.namespace || claim.namespace) === snapshot.namespace &&
  spec.source.name === snapshot.name;

async function refuseOtherLink(
  wanted: Wanted,
  link: Resource,
  { signal }: Io,
  client: KubeClient,
): Promise<void> {
  const { namespace, name } = wanted.claim;
  try {
    const there = await client.get<VolumeSnapshotLink>(link, name, { namespace, signal });
    if (!leadsThere(there, wanted)) throw leadsElsewhere(there, wanted);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Number of attempts: the garbage collector may delete the link concurrently. */
const TRIES = 3;

/**
 * Creates the link, owned by the claim, or keeps an existing one, unless an earlier claim's. A note
 * names it.
 */
async function makeLink(
  wanted: Wanted,
  { metadata: { name, uid = '' } }: PersistentVolumeClaim,
  resource: Resource,
  { signal, stderr }: Io,
  client: KubeClient,
): Promise<void> {
  const { snapshot, claim } = wanted;
  const note = (text: string) => void stderr.write(printable(`note: ${text}\n`));
  const which = `VolumeSnapshotLink ${claim.namespace}/${claim.name}`;
  const link: VolumeSnapshotLink = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      ...claim,
      ownerReferences: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, uid }],
    },
    spec: { source: snapshot },
  };
  const options = { namespace: claim.namespace, signal };
  for (let left = TRIES; ; left--) {
    try {
      await client.create(resource, link, { strict: true, signal });
      return note(`the claim names ${which}, which is deleted with it`);
    } catch (error) {
      if (!isAlreadyExists(error) || left === 1) throw error;
    }
    try {
      const there = await client.get<VolumeSnapshotLink>(resource, claim.name, options);
      if (!leadsThere(there, wanted)) throw leadsElsewhere(there, wanted);
      if (!isOfEarlier(there, link)) return note(`the claim names the existing ${which}`);
      await client.delete(resource, claim.name, { ...options, uid: there.metadata.uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Reports whether a link is of an earlier claim of that name: garbage collection deletes it. */
const isOfEarlier = (
  { metadata }: VolumeSnapshotLink,
  { metadata: wanted }: VolumeSnapshotLink,
): boolean =>
  wanted.ownerReferences?.some(({ kind, name, uid }) =>
    metadata.ownerReferences?.some(
      (owner) => owner.kind === kind && owner.name === name && owner.uid !== uid,
    ),
  ) ?? false;

const leadsElsewhere = (
  { spec: { source } }: VolumeSnapshotLink,
  { claim }: Wanted,
): StowageError =>
  new StowageError(
    'conflict',
    `VolumeSnapshotLink ${claim.namespace}/${claim.name} already exists, and refers to ${source.namespace || claim.namespace}/${source.name}`,
    {
      hint: 'Restore to a claim of another name, or delete the link if it is not needed.',
      object: { kind: 'VolumeSnapshotLink', ...claim },
    },
  );
