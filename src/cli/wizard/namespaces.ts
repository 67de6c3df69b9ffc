import type { KubeObject } from '../../api/meta.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { NAMESPACES } from '../install/kinds.ts';
import type { Io } from '../io.ts';
import { namespaceName } from '../parse.ts';
import type { Prompts } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { problemBy } from './missing.ts';

/** In place of a name. */
const OTHER = '';

/** Asks for a namespace, of those that there are, if the user may list them. `first`: put before the others. `except`: not offered. */
export async function askNamespace(
  question: string,
  { first, except }: { first?: string; except?: string },
  prompts: Prompts,
  client: KubeClient,
  { signal }: Io,
): Promise<string> {
  const typed = () => prompts.input(question, problemBy(namespaceName));
  const read = await reading(listAll<KubeObject>(client, NAMESPACES, { signal }));
  const names = (foundIn(read)?.items ?? [])
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== except);
  if (names.length === 0) return typed();
  const sorted = names.toSorted((a, b) => Number(b === first) - Number(a === first));
  const answer = await prompts.select(question, [
    ...sorted.map((name) => ({ name, value: name })),
    { name: 'another one', value: OTHER },
  ]);
  return answer === OTHER ? typed() : answer;
}
