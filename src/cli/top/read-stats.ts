import { StowageError } from '../../api/errors.ts';
import { NODES } from '../../api/resources.ts';
import { ApiError } from '../../kube/errors.ts';
import { objectPath } from '../../kube/paths.ts';
import type { Transport } from '../../kube/transport.ts';
import { readSummary, type VolumeStats } from './stats-summary.ts';

/** Maximum bytes of a summary: some times that of a node with 250 pods. */
const MAX_BYTES = 8 << 20;

/** Resource of RBAC for requests to a kubelet through the API server. */
export const PROXY = `${NODES.plural}/proxy`;

/** Figures of a node's kubelet, or the reason why there are none. */
export type NodeStats = { stats: VolumeStats[] } | { why: string };

/**
 * Reads the figures of a node's kubelet through the API server, with the caller's rights. Throws
 * the signal's reason, and errors that are no StowageErrors.
 * @param node a valid name
 */
export async function readStats(
  transport: Pick<Transport, 'send'>,
  node: string,
  signal: AbortSignal,
): Promise<NodeStats> {
  try {
    const summary = await transport.send({
      method: 'GET',
      path: `${objectPath(NODES, undefined, node, 'proxy')}/stats/summary`,
      what: { verb: 'get', resource: PROXY },
      signal,
      maxBytes: MAX_BYTES,
    });
    return { stats: readSummary(summary) };
  } catch (error) {
    if (signal.aborted || !(error instanceof StowageError)) throw error;
    if (error instanceof ApiError && error.reason === 'Forbidden')
      return { why: `this takes the right to get ${PROXY}, which you lack for node ${node}` };
    return { why: `the kubelet of node ${node} is not read: ${error.message}` };
  }
}
