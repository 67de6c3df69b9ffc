import type { KubeNode } from '../api/core.ts';
import { HOSTNAME_LABEL } from '../api/names.ts';
import { type Explanation, explain } from '../api/reasons.ts';

/**
 * Returns the node's value of the label by which volumes and capacities select it. The value may
 * differ from the name: clouds and operators set it, and a name may be too long for a label. For a
 * node without the label, the name is assumed, which its kubelet sets.
 */
export const hostnameLabelOf = ({ metadata }: Pick<KubeNode, 'metadata'>): string =>
  metadata.labels?.[HOSTNAME_LABEL] ?? metadata.name;

/** Hostname labels of nodes, or why no affinity may select by them now. */
export type HostnameLabels = { labels: string[] } | { problem: Explanation };

/**
 * Returns the hostname labels by which an affinity selects the named nodes and no other. An
 * affinity is immutable, so no label is assumed: each node must exist and have one. A Node without
 * the label counts by its name, which may become its label. Pure.
 */
export function labelsSelecting(
  names: readonly string[],
  nodes: readonly KubeNode[],
): HostnameLabels {
  const labels = new Map<string, string>();
  for (const name of names) {
    const label = nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[
      HOSTNAME_LABEL
    ];
    if (!label) return { problem: explain('HostnameLabelMissing', { node: name }) };
    labels.set(label, name);
  }
  for (const node of nodes) {
    const other = node.metadata.name;
    const label = hostnameLabelOf(node);
    const name = labels.get(label);
    if (name !== undefined && !names.includes(other))
      return { problem: explain('HostnameLabelShared', { node: name, other, label }) };
  }
  return { labels: [...labels.keys()] };
}
