import type { KubeNode } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { NODES } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { selected } from '../objects/selector.ts';
import { foundIn, reading } from '../read-result.ts';

/**
 * Returns the selected Nodes by name. Without the right to read them, calls `forbidden` and returns
 * none; throws a StowageError if there is a selector, since the selection is unknown.
 */
export async function listNodes(
  client: KubeClient,
  selector: string | undefined,
  signal: AbortSignal,
  forbidden: (message: string) => void,
): Promise<Map<string, KubeNode>> {
  const list = listAll<KubeNode>(client, NODES, { labelSelector: selector, signal });
  const read = await reading(selected(selector, list));
  if ('forbidden' in read) {
    if (selector !== undefined) throw new StowageError('forbidden', read.forbidden);
    forbidden(read.forbidden);
  }
  return new Map((foundIn(read)?.items ?? []).map((node) => [node.metadata.name, node]));
}
