import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { Resource } from '../../api/meta.ts';
import { phaseOf } from '../../api/phase.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS, VOLUME_SNAPSHOTS, VOLUMES } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import type { Connection } from '../../kube/connect.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import type { Io } from '../lib/io.ts';
import { servedGrants } from '../lib/objects/grant-kinds.ts';
import type { ReadClient } from '../lib/objects/related.ts';
import { phaseOf as snapshotPhase } from '../lib/objects/snapshot-state.ts';
import type { Target } from '../lib/target.ts';
import { diagnoseClaim } from './claim/diagnose.ts';
import type { ClaimFacts } from './claim/facts.ts';
import { readClaim } from './claim/read.ts';
import { diagnose } from './diagnose.ts';
import { missingCrd } from './missing-crd.ts';
import { explainNode } from './node-object/explain.ts';
import { diagnosePod } from './pod/diagnose.ts';
import type { PodFacts } from './pod/facts.ts';
import { readPod } from './pod/read.ts';
import { readFacts } from './read.ts';
import { diagnoseSnapshot } from './snapshot/diagnose.ts';
import { readSnapshot, type SnapshotFacts } from './snapshot/read.ts';
import type { Explained } from './types.ts';

export interface Cluster extends Pick<Connection, 'namespace'> {
  client: ReadClient;
  /** Returns the resource of ReferenceGrants in the served version. */
  grants(): Promise<Resource | undefined>;
}

/** Returns the cluster of a connection. Requests the version of ReferenceGrants once. */
export function clusterOf(
  connection: Pick<Connection, 'namespace' | 'transport'>,
  client: ReadClient,
  signal: AbortSignal,
): Cluster {
  const { namespace } = connection;
  let served: Promise<Resource | undefined> | undefined;
  return {
    client,
    namespace,
    grants() {
      served ??= servedGrants(connection, signal);
      return served;
    },
  };
}

/** Reads an object and its surroundings, and finds its first blocker. Throws a StowageError. */
export function explain(target: Target, io: Io, cluster: Cluster): Promise<Explained> {
  switch (target.kind) {
    case 'Volume':
      return explainVolume(target, io, cluster);
    case 'PersistentVolumeClaim':
      return explainClaim(target, io, cluster);
    case 'VolumeSnapshot':
      return explainSnapshot(target, io, cluster);
    case 'Node':
      return explainNode(target, io, cluster);
    case 'Pod':
      return explainPod(target, io, cluster);
  }
}

async function explainVolume(
  { name }: Target,
  { signal, clock }: Io,
  { client }: Cluster,
): Promise<Explained> {
  const kind = 'Volume';
  const volume = await client
    .get<Volume>(VOLUMES, name, { signal })
    .catch((error: unknown) => missingCrd(error, kind));
  if ('cause' in volume)
    return { subject: { kind, name, phase: 'Unknown' }, diagnosis: volume, readings: [] };
  const known = await readFacts(client, volume, signal);
  const subject = { kind, name, phase: phaseOf(volume) ?? 'Unknown' };
  return {
    subject,
    diagnosis: diagnose(known, clock.timeOfDay()),
    readings: [known],
    node: nodeOf(volume),
  };
}

export async function explainClaim(
  { name, ...target }: Target,
  { signal, clock }: Io,
  cluster: Cluster,
): Promise<Explained & { known: ClaimFacts }> {
  const { client, grants } = cluster;
  const { namespace = cluster.namespace } = target;
  const options = { namespace, signal };
  const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, options);
  const known = await readClaim(claim, client, grants, signal, clock.timeOfDay());
  const phase =
    claim.metadata.deletionTimestamp === undefined ? claim.status?.phase : 'Terminating';
  return {
    subject: { kind: target.kind, name, namespace, phase: phase ?? 'Pending' },
    diagnosis: diagnoseClaim(known, clock.timeOfDay()),
    readings: [{ ...known, ...known.supply, ...known.known }],
    known,
  };
}

/** `known` is unset if the cluster does not know the kind. */
export async function explainSnapshot(
  { name, ...target }: Target,
  { signal }: Io,
  cluster: Cluster,
): Promise<Explained & { known?: SnapshotFacts }> {
  const { client } = cluster;
  const { namespace = cluster.namespace } = target;
  const kind = 'VolumeSnapshot';
  const snapshot = await client
    .get<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, { namespace, signal })
    .catch((error: unknown) => missingCrd(error, kind));
  if ('cause' in snapshot) {
    return {
      subject: { kind, name, namespace, phase: 'Unknown' },
      diagnosis: snapshot,
      readings: [],
    };
  }
  const known = await readSnapshot(snapshot, client, signal);
  const subject = { kind, name, namespace, phase: snapshotPhase(snapshot) };
  return { subject, diagnosis: diagnoseSnapshot(known), readings: [known], known };
}

export async function explainPod(
  { name, ...target }: Target,
  { signal, clock }: Io,
  cluster: Cluster,
): Promise<Explained & { known: PodFacts }> {
  const { namespace = cluster.namespace } = target;
  const known = await readPod(
    name,
    namespace,
    cluster.client,
    cluster.grants,
    signal,
    clock.timeOfDay(),
  );
  const parts = known.volumes.map(({ claim, pv, volume, dynamic, holder }) => ({
    claim,
    pv,
    holder,
    ...(volume && { volume }),
    ...dynamic,
    ...dynamic?.supply,
  }));
  const { metadata, status, spec } = known.pod;
  return {
    subject: {
      kind: PODS.kind,
      name,
      namespace: metadata.namespace ?? '',
      phase:
        metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Unknown') : 'Terminating',
    },
    diagnosis: diagnosePod(known, clock.timeOfDay()),
    readings: [{ node: known.node, events: known.events }, ...parts, { ...known.supply }],
    ...(spec.nodeName ? { node: spec.nodeName } : {}),
    known,
  };
}
