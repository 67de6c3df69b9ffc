import type { KubeNode, PersistentVolume } from '../../api/core.ts';
import { HOSTNAME_LABEL } from '../../api/names.ts';
import { NODES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import type { ReadClient } from '../lib/objects/related.ts';
import { foundIn, type Reading, reading, readNamed } from '../lib/read-result.ts';
import type { Blocker, Placement } from './types.ts';

/** Node affinity of a local PersistentVolume, which any writer may have set. */
interface Affinity {
  required?: { nodeSelectorTerms?: { matchExpressions?: Expression[] | null }[] | null };
}
interface Expression {
  key: string;
  operator: string;
  values?: string[] | null;
}

const LABEL_VALUE = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Maximum number of selected labels to look up: each is a request. */
const MOST_LABELS = 20;

/** Ways to change the label permanently: kubelets undo others (updateDefaultLabels). */
export const CHANGE_LABEL =
  'by --hostname-override or --node-labels of its kubelet, and restart the kubelet, which undoes labels that kubectl set';

/** Returns the hostname labels that a PersistentVolume selects. Pure. */
export function selectedHostnames(pv: PersistentVolume): string[] {
  const { required } = (pv.spec.nodeAffinity ?? {}) as Affinity;
  const values = (required?.nodeSelectorTerms ?? [])
    .flatMap(({ matchExpressions }) => matchExpressions ?? [])
    .filter(({ key, operator }) => key === HOSTNAME_LABEL && operator === 'In')
    .flatMap((expression) => expression.values ?? []);
  return [...new Set(values)].filter((value) => LABEL_VALUE.test(value));
}

const nodesWithData = (volume: Volume): readonly string[] =>
  volume.spec.attachableNodes ?? [nodeOf(volume)];

/**
 * Reads where a Volume's own PersistentVolume leads pods. Throws a StowageError.
 * @param node the Volume's node, as read
 * @returns undefined if the user may not list nodes
 */
export async function readPlacement(
  client: ReadClient,
  volume: Volume,
  pv: PersistentVolume,
  node: Reading<KubeNode>,
  signal: AbortSignal,
): Promise<Placement | undefined> {
  const selected: KubeNode[] = [];
  for (const label of selectedHostnames(pv).slice(0, MOST_LABELS)) {
    const labelSelector = `${HOSTNAME_LABEL}=${label}`;
    const list = await reading(listAll<KubeNode>(client, NODES, { labelSelector, signal }));
    if (!('found' in list)) return undefined;
    selected.push(
      ...list.found.items.filter(({ metadata }) => metadata.labels?.[HOSTNAME_LABEL] === label),
    );
  }
  const passedOver: KubeNode[] = [];
  for (const name of nodesWithData(volume)) {
    if (selected.some(({ metadata }) => metadata.name === name)) continue;
    const isOwn = name === nodeOf(volume);
    const read = isOwn ? node : await readNamed<KubeNode>(client, NODES, name, { signal });
    const found = foundIn(read);
    if (found !== undefined) passedOver.push(found);
  }
  return { selected, passedOver };
}

/**
 * Reports a PersistentVolume that selects other nodes than those with the data: its affinity is
 * immutable, and labels change. Pure.
 */
export function misplaced(
  own: PersistentVolume,
  volume: Volume,
  placement: Placement | undefined,
): Blocker | undefined {
  const labels = selectedHostnames(own);
  if (placement === undefined || labels.length === 0) return undefined;
  const { name } = own.metadata;
  const allowed = nodesWithData(volume);
  const strangers = placement.selected
    .map(({ metadata }) => metadata.name)
    .filter((each) => !allowed.includes(each));
  if (strangers.length > 0) {
    return {
      cause: 'HostnameLabelShared',
      holdup: `PersistentVolume ${name} leads pods to ${strangers.join(', ')}, where the data is not: it selects the label ${HOSTNAME_LABEL} ${labels.join(', ')}, and only ${allowed.join(', ')} can have the volume`,
      next: { when: 'when no other node has that label' },
      fix: {
        say: `Correct the label of ${strangers.join(', ')} ${CHANGE_LABEL}. Then create the pods again that wait there.`,
      },
    };
  }
  const [node] = placement.passedOver;
  if (node === undefined) return undefined;
  const label = node.metadata.labels?.[HOSTNAME_LABEL];
  const where = allowed.length > 1 ? ` on node ${node.metadata.name}` : '';
  return {
    cause: 'HostnameLabelDiffers',
    holdup: `no pod${where} fits PersistentVolume ${name}: it selects the label ${HOSTNAME_LABEL} ${labels.join(', ')}, and node ${node.metadata.name} has ${label ?? 'none'}`,
    next: { when: 'when the label has that value' },
    fix: {
      say: `Give the node that label ${CHANGE_LABEL}, if no other node has it, and no other volume selects the present one. Otherwise copy the data to a new Volume, which selects the present label.`,
    },
  };
}
