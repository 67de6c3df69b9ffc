import type { KubeNode } from '../../../api/core.ts';
import { READY_REASON } from '../../../api/names.ts';
import { NODES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { ReadClient } from '../../lib/objects/related.ts';
import { readyOf } from '../../lib/objects/volume-progress.ts';
import { foundIn, type Reading, reading, readNamed } from '../../lib/read-result.ts';
import { readFacts } from '../read.ts';
import { isDeleting } from '../state.ts';
import type { VolumeFacts } from '../types.ts';

export interface NodeObjectFacts {
  name: string;
  node: Reading<KubeNode>;
  /** Volumes that are, or may be, on the node, sorted by name. */
  volumes: Reading<Volume[]>;
  /** Facts about one Volume: one whose node cannot be reached, else one that is not Ready. */
  first: VolumeFacts | undefined;
}

/**
 * Reads the facts about a node, which need not exist in the cluster. Throws a StowageError; a
 * refusal stands for an unreadable object.
 */
export async function readNode(
  name: string,
  client: ReadClient,
  signal: AbortSignal,
): Promise<NodeObjectFacts> {
  const node = await readNamed<KubeNode>(client, NODES, name, { signal });
  const volumes = await reading(
    listAll<Volume>(client, VOLUMES, { signal }).then(({ items }) =>
      items
        .filter((volume) => isOn(volume, name))
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    ),
  );
  const all = (foundIn(volumes) ?? []).filter((volume) => nodeOf(volume) === name);
  const first = all.find(isAway) ?? all.find(isHeld);
  return { name, node, volumes, first: first && (await readFacts(client, first, signal)) };
}

/** Reports whether a Volume is provisioned on a node, or attached to it. */
const isOn = (volume: Volume, name: string): boolean =>
  nodeOf(volume) === name || (volume.status?.attachments ?? []).some(({ node }) => node === name);

function isAway(volume: Volume): boolean {
  const reason = readyOf(volume)?.reason;
  return reason === READY_REASON.nodeUnreachable || reason === READY_REASON.nodeUnclear;
}

const isHeld = (volume: Volume): boolean =>
  readyOf(volume)?.status !== 'True' || isDeleting(volume);
