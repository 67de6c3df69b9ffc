import type { PersistentVolumeClaim } from '../../../api/core.ts';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import type { Volume } from '../../../api/volume.ts';
import type { Connection } from '../../../kube/connect.ts';
import { eligibleNodes, nodeOf } from '../../../model/volume-nodes.ts';
import type { Io } from '../../lib/io.ts';
import { askEach } from '../../lib/nodes/ask-each.ts';
import { readClaims, readPods, UNUSED } from '../consumers.ts';
import { figuresOf } from '../figures-of.ts';
import type { Gap } from '../gaps.ts';
import { type NodeStats, readStats } from '../read-stats.ts';
import type { VolumeStats } from '../stats-summary.ts';

/** Number of summaries that are read, and held in memory, in parallel. */
const AT_ONCE = 8;

const BLOCK = 'volumes of mode Block have no file system that the kubelet measures';

/** Pods and figures of a node. */
type NodeUse = Extract<Awaited<ReturnType<typeof readPods>>, { pods: unknown }> &
  Extract<NodeStats, { stats: unknown }>;

type Answer = NodeUse | { why: string };

/**
 * Measures the use of mounted file systems, by the kubelets of their nodes, and by UIDs in between.
 * Throws a StowageError of the API server, or the reason of the signal.
 * @param named true if Volumes are requested by name
 */
export async function measureUsed(
  volumes: readonly Volume[],
  named: boolean,
  timeoutMs: number,
  { client, transport }: Pick<Connection, 'client' | 'transport'>,
  { signal, clock }: Pick<Io, 'signal' | 'clock'>,
): Promise<{ used: Map<Volume, VolumeStats>; gaps: Gap[] }> {
  const gaps: Gap[] = [];
  const gap = (volume: Volume, why: string, cause = why) =>
    gaps.push({ column: 'USED', name: volume.metadata.name, why, cause });
  const mountable = volumes.filter(({ spec }) => spec.mode !== 'Block');
  for (const volume of volumes) if (volume.spec.mode === 'Block') gap(volume, BLOCK);

  const claims = new Map<Volume, PersistentVolumeClaim>();
  for (const [volume, bound] of await readClaims(client, mountable, named, signal)) {
    if ('claim' in bound) claims.set(volume, bound.claim);
    else gap(volume, bound.why);
  }
  const nodes = [...new Set([...claims.keys()].flatMap(nodesWith))];
  const ask = async (node: string, over: AbortSignal): Promise<Answer> => {
    const either = AbortSignal.any([signal, over]);
    const stats = await readStats(transport, node, either);
    if ('why' in stats) return stats;
    const pods = await readPods(client, node, either);
    return 'why' in pods ? pods : { ...stats, ...pods };
  };
  const answers = await askEach<Answer>(
    nodes,
    { timeoutMs, atOnce: AT_ONCE },
    clock,
    ask,
    (message) => ({ why: `kubelets are not read: ${message}` }),
  );
  const byNode = new Map(nodes.map((node, index) => [node, answers[index]]));

  const used = new Map<Volume, VolumeStats>();
  for (const [volume, claim] of claims) {
    const found: VolumeStats[] = [];
    const whys: { why: string; cause: string }[] = [];
    for (const node of nodesWith(volume)) {
      const answer = byNode.get(node);
      if (answer === undefined) continue;
      if ('why' in answer) whys.push({ why: answer.why, cause: `kubelet ${node}` });
      else found.push(...[figuresOf(claim, answer.stats, answer.pods) ?? []].flat());
    }
    const [newest] = found.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0));
    if (newest !== undefined) used.set(volume, newest);
    else gap(volume, whys[0]?.why ?? UNUSED, whys[0]?.cause);
  }
  return { used, gaps };
}

/**
 * Returns the nodes whose kubelets may have the Volume mounted. A node has a say only on Volumes
 * that are there.
 */
function nodesWith(volume: Volume): string[] {
  const possible = eligibleNodes(volume);
  const attached = (volume.status?.attachments ?? []).map(({ node }) => node);
  return [...new Set([nodeOf(volume), ...attached])].filter(
    (node) => possible.includes(node) && isDnsSubdomain(node),
  );
}
