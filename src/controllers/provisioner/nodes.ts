import type { KubeNode, StorageClass } from '../../api/core.ts';
import { HOSTNAME_LABEL } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { explain } from '../../api/reasons.ts';
import { hostnameLabelOf } from '../../model/hostname-label.ts';
import { isNodeReady } from '../../model/node-health.ts';
import type { Explained } from '../lib/capacity/refusal.ts';

/** Returns why nothing may be provisioned on a node now; undefined if it may be. */
export function whyNotOn(
  node: KubeNode,
  { allowedTopologies }: StorageClass,
): Explained | undefined {
  const { name } = node.metadata;
  if (isPaused(node)) return explain('NodePaused', { node: name });
  if (!isNodeReady(node)) return explain('NodeNotReady', { node: name });
  return allows(allowedTopologies, node)
    ? undefined
    : explain('TopologyNotAllowed', { node: name });
}

/**
 * Reports whether terms allow a node, as in the scheduler: terms are alternatives, and all
 * expressions of a term must hold.
 */
function allows(terms: StorageClass['allowedTopologies'], node: KubeNode): boolean {
  if (terms === undefined || terms.length === 0) return true;
  const labels = node.metadata.labels ?? {};
  return terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => {
      const value = key === HOSTNAME_LABEL ? hostnameLabelOf(node) : labels[key];
      return value !== undefined && values.includes(value);
    }),
  );
}
