import type { KubeObject, Resource } from '../../../api/meta.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { foundIn, reading } from '../read-result.ts';

/**
 * Lists the objects of a kind. Returns none if the cluster lacks the kind, or if the user may not
 * read it, which a note reports.
 */
export async function listReadable<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  { signal, stderr }: Io,
  namespace?: string,
): Promise<T[]> {
  const read = await reading(listAll<T>(client, resource, { namespace, signal }));
  if ('forbidden' in read) stderr.write(printable(`note: not checked: ${read.forbidden}\n`));
  return foundIn(read)?.items ?? [];
}
