import type { KubeNode } from '../../../api/core.ts';
import { PAUSED_ANNOTATION } from '../../../api/names.ts';
import { isPaused } from '../../../api/paused.ts';
import { NODES } from '../../../api/resources.ts';
import type { ConditionRow, NodeDetail } from '../../../ui/protocol.ts';
import { type Reading, readNamed } from '../../lib/read-result.ts';
import { publicMessage, publicName } from '../public-text.ts';
import { conditionRow } from '../rows.ts';
import { readObject } from './object-detail.ts';
import type { ReadAccess } from './read-access.ts';
import type { ReadRoute } from './read-route.ts';

/** Maximum conditions that the page gets. */
const MOST_CONDITIONS = 50;

/** Reads what the cluster records about a node, without contacting it. Throws a StowageError. */
export async function readNodeDetail(
  { name }: Pick<ReadRoute, 'name'>,
  { client, io, run }: Pick<ReadAccess, 'client' | 'io' | 'run'>,
): Promise<NodeDetail> {
  const [node, object] = await Promise.all([
    readNamed<KubeNode>(client, NODES, name, { signal: io.signal }),
    readObject(`node/${name}`, run),
  ]);
  return { ...object, ...nodeDetail(node) };
}

/** Returns named fields of a Node. Pure. */
export function nodeDetail(read: Reading<KubeNode>): Pick<NodeDetail, 'conditions' | 'paused'> {
  if (!('found' in read)) {
    const missing = 'forbidden' in read ? publicMessage(read.forbidden) : '';
    return { conditions: { missing }, paused: '' };
  }
  const { metadata, status } = read.found;
  const conditions = (status?.conditions ?? [])
    .map(conditionRow)
    .toSorted((a, b) => rank(a) - rank(b));
  return {
    conditions: { found: conditions.slice(0, MOST_CONDITIONS) },
    paused: isPaused(read.found) ? publicName(metadata.annotations?.[PAUSED_ANNOTATION]) : '',
  };
}

/** Ready comes first, then problems: conditions such as DiskPressure are good while False. */
function rank({ type, status }: ConditionRow): number {
  if (type === 'Ready') return 0;
  return status === 'False' ? 2 : 1;
}
