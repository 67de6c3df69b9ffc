import type { KubeNode, PersistentVolume } from '../../api/core.ts';
import { isDnsSubdomain } from '../../api/dns-name.ts';
import { StowageError } from '../../api/errors.ts';
import { FORGET_NODE_ANNOTATION } from '../../api/names.ts';
import { NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { deletable } from '../../controllers/volume/deletable.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isNodeReady } from '../../model/node-health.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import type { Io } from '../lib/io.ts';

/**
 * Returns a Volume whose node may be forgotten, in any phase. Throws a StowageError `conflict`
 * if it is bound to a claim, or if its node is not lost: the storage can be removed there.
 */
export async function forgettable(name: string, io: Io, client: KubeClient): Promise<Volume> {
  const { signal } = io;
  const volume = await client.get<Volume>(VOLUMES, name, { signal });
  const pv = await ignoreNotFound(
    client.get<PersistentVolume>(PERSISTENT_VOLUMES, name, { signal }),
  );
  const refuse = (why: string, hint: string) =>
    new StowageError('conflict', `The node of Volume ${name} cannot be forgotten: ${why}`, {
      hint,
    });
  // Pods of a bound claim may write anywhere: the same rule as for an Available Volume.
  const verdict = deletable(asAvailable(volume), pv?.status?.phase === 'Bound' ? pv : undefined);
  if (!verdict.can) throw refuse(verdict.why, verdict.hint);
  const node = nodeOf(volume);
  const kubeNode = isDnsSubdomain(node)
    ? await ignoreNotFound(client.get<KubeNode>(NODES, node, { signal }))
    : undefined;
  if (isNodeReady(kubeNode)) {
    throw refuse(
      `node ${node} is Ready`,
      `Delete it without --forget-node, which also removes its storage: stowage delete volume ${name}. If the node is unreachable, find out why: stowage why volume ${name}`,
    );
  }
  return volume;
}

/** Returns what is lost, for the consent of the user. */
export function lostByForgetting(volume: Volume): string {
  const { metadata, status } = volume;
  const node = nodeOf(volume);
  return status?.prepared === undefined && status?.phase !== 'Available'
    ? `Volume ${metadata.name}: no storage on node ${node} is recorded; whatever it has there nevertheless is lost to the cluster now, and is removed if that node returns`
    : `Volume ${metadata.name}: its data on node ${node} is lost to the cluster now, and is removed if that node returns`;
}

/** Annotates a Volume, so that its deletion does not wait for the node, and deletes it. */
export async function forgetNode(
  volume: Volume,
  { signal }: Io,
  client: KubeClient,
): Promise<void> {
  const { name, uid } = volume.metadata;
  // Not another Volume that has taken the name since.
  const metadata = { uid, annotations: { [FORGET_NODE_ANNOTATION]: uid } };
  const { deletionTimestamp } = (
    await client.patch<Volume>(VOLUMES, name, { metadata }, { signal })
  ).metadata;
  if (deletionTimestamp === undefined) await client.delete(VOLUMES, name, { uid, signal });
}

function asAvailable(volume: Volume): Volume {
  const { deletionTimestamp: _, ...metadata } = volume.metadata;
  return { ...volume, metadata, status: { ...volume.status, phase: 'Available' } };
}
