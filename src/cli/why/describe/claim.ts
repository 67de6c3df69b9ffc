import type { PersistentVolumeClaim } from '../../../api/core.ts';
import { phaseOf } from '../../../api/phase.ts';
import { VOLUME_SNAPSHOT_LINKS, VOLUME_SNAPSHOTS } from '../../../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotLink } from '../../../api/snapshot.ts';
import { listAll } from '../../../kube/client.ts';
import { dataSourceOf } from '../../../model/data-source/data-source.ts';
import { grantFor, type Referent } from '../../../model/data-source/grant.ts';
import { sourceReference } from '../../../model/data-source/reference.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Describe } from '../../lib/describe-command.ts';
import { eventTable, headFields, podText, shown } from '../../lib/objects/description.ts';
import { type GrantedTo, referrer, SNAPSHOT_TYPE } from '../../lib/objects/grant-kinds.ts';
import { phaseOf as snapshotPhase } from '../../lib/objects/snapshot-state.ts';
import { type Field, type FieldValue, fields } from '../../lib/output/fields.ts';
import { readableSize } from '../../lib/output/size.ts';
import { foundIn, reading, readNamed } from '../../lib/read-result.ts';
import { type Cluster, clusterOf, explainClaim } from '../explain.ts';
import { blockedBy } from '../why.ts';
import { readGrants } from './grants.ts';

/** Returns what `stowage describe pvc` prints. Throws a StowageError. */
export const describeClaim: Describe = async (name, io, connection) => {
  const { client } = connection;
  const cluster = clusterOf(connection, client, io.signal);
  const explained = await explainClaim({ kind: 'PersistentVolumeClaim', ...name }, io, cluster);
  const { claim, pv, volume, pods, events } = explained.known;
  const { spec, status } = claim;
  const now = io.clock.timeOfDay();
  return fields([
    ...headFields(claim, now),
    ['Phase', explained.subject.phase],
    ['Storage class', spec.storageClassName],
    ['Access modes', spec.accessModes?.join(', ')],
    ['Mode', spec.volumeMode ?? 'Filesystem'],
    ['Requested', spec.resources?.requests?.storage],
    ['Capacity', status?.capacity?.storage && readableSize(status.capacity.storage)],
    [
      'PersistentVolume',
      'absent' in pv && spec.volumeName
        ? `${spec.volumeName} (missing)`
        : shown(pv, ({ metadata, status }) => `${metadata.name} (${status?.phase ?? 'Unknown'})`),
    ],
    [
      'Volume',
      shown(
        volume,
        (found) =>
          `${found.metadata.name} (${phaseOf(found) ?? 'Unknown'}) on node ${nodeOf(found)}`,
      ),
    ],
    ...(await sourceFields(claim, cluster, io.signal)),
    ['Snapshots', await snapshotsOf(claim, cluster, io.signal)],
    ['Used by', shown(pods, (using) => using.map(podText))],
    ['Blocked by', await blockedBy(explained, io, client)],
    ['Events', shown(events, (all) => eventTable(all, now))],
  ]);
};

/** Returns the data source of a claim, and the grant that allows it across namespaces. */
async function sourceFields(
  claim: PersistentVolumeClaim,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Field[]> {
  const { namespace = '' } = claim.metadata;
  const source = dataSourceOf(claim, { crossNamespace: true });
  if (source.kind === 'dropped') {
    const { objectKind, name } = source;
    const what = `${objectKind} ${source.namespace}/${name}`;
    return [['Data source', `${what}, which the API server dropped from the claim`]];
  }
  const reference = sourceReference(claim);
  if (reference === undefined) return [['Data source', undefined]];
  const text: Field = ['Data source', `${reference.kind} ${reference.namespace}/${reference.name}`];
  if (source.kind !== 'link') return [text, ...(await grantField('claims', reference))];
  const options = { namespace: reference.namespace, signal };
  const link = await readNamed<VolumeSnapshotLink>(
    cluster.client,
    VOLUME_SNAPSHOT_LINKS,
    reference.name,
    options,
  );
  const { name, namespace: of } = foundIn(link)?.spec.source ?? {};
  // A source without a namespace is in that of the link.
  const to = { ...SNAPSHOT_TYPE, namespace: of || reference.namespace, name: name ?? '' };
  return [
    text,
    ['Links to', shown(link, () => `${to.kind} ${to.namespace}/${to.name}`)],
    // No grant can allow a link of another namespace.
    ...(reference.namespace === namespace ? await grantField('links', to) : []),
  ];

  /** Returns no field for an object of the claim's own namespace, which needs no grant. */
  async function grantField(what: GrantedTo, to: Referent): Promise<Field[]> {
    if (to.namespace === namespace) return [];
    const found = await readGrants(cluster, to.namespace, signal);
    return [
      [
        'Allowed by',
        shown(found, (grants) => {
          const grant = grantFor(grants, referrer(what, namespace), to);
          return grant === undefined
            ? `no ReferenceGrant of namespace ${to.namespace}`
            : `ReferenceGrant ${to.namespace}/${grant.metadata.name}`;
        }),
      ],
    ];
  }
}

/** Returns the snapshots that have the claim as their source. */
async function snapshotsOf(
  { metadata: { name, namespace } }: PersistentVolumeClaim,
  { client }: Cluster,
  signal: AbortSignal,
): Promise<FieldValue> {
  const list = listAll<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, { namespace, signal });
  return shown(await reading(list), ({ items }) =>
    items
      .filter(({ spec }) => spec.source.persistentVolumeClaimName === name)
      .map((snapshot) => `${snapshot.metadata.name} (${snapshotPhase(snapshot)})`),
  );
}
