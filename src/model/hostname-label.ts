import type { KubeNode } from '../api/core.ts';
import { HOSTNAME_LABEL } from '../api/names.ts';

/**
 * Returns the node's value of the label by which volumes and capacities select it. The value may
 * differ from the name: clouds and operators set it, and a name may be too long for a label. For a
 * node without the label, the name is assumed, which its kubelet sets.
 */
export const hostnameLabelOf = ({ metadata }: Pick<KubeNode, 'metadata'>): string =>
  metadata.labels?.[HOSTNAME_LABEL] ?? metadata.name;
