import type { KubeObject } from '../../../api/meta.ts';
import { NAMESPACES } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../io.ts';
import type { Choice } from '../prompts/prompts.ts';
import { foundIn, reading } from '../read-result.ts';
import { orOther } from './ask.ts';

/**
 * Returns the namespaces that the user may list. `first` precedes the others; `except` is left out.
 */
export async function namespaceChoices(
  { first, except }: { first?: string; except?: string },
  client: KubeClient,
  { signal }: Io,
): Promise<readonly Choice[]> {
  const read = await reading(listAll<KubeObject>(client, NAMESPACES, { signal }));
  const names = (foundIn(read)?.items ?? [])
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== except)
    .sort((a, b) => Number(b === first) - Number(a === first));
  return orOther(names.map((name) => ({ name, value: name })));
}
