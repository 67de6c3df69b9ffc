import { VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import type { Io } from '../io.ts';
import { type NamespacedName, namespacedName } from '../parse.ts';
import type { Choice, Prompts } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { problemBy } from './missing.ts';

const QUESTION = 'VolumeSnapshot:';
const OTHER = '';
/** In place of a name: all of a namespace. */
const ALL = '*';

/**
 * Asks for a snapshot of those that the user may list: of all namespaces, else of the own one.
 * @param all whether all of a namespace can be meant; their name is undefined then
 */
export async function askSnapshot(
  { all }: { all: boolean },
  prompts: Prompts,
  { client, namespace }: Connection,
  { signal }: Io,
): Promise<Required<Pick<NamespacedName, 'namespace'>> & { name: string | undefined }> {
  const list = (options: object) =>
    reading(listAll<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, { signal, ...options }));
  const found = foundIn(await list({})) ?? foundIn(await list({ namespace }));
  const snapshots = (found?.items ?? []).toSorted(
    (a, b) =>
      Number(b.metadata.namespace === namespace) - Number(a.metadata.namespace === namespace),
  );
  const named = (text: string) => ({ namespace, ...namespacedName(text) });
  if (snapshots.length > 0) {
    const spaces = [...new Set(snapshots.map(({ metadata }) => metadata.namespace ?? ''))];
    const answer = await prompts.select(QUESTION, [
      ...snapshots.map(choiceOf),
      ...(all
        ? spaces.map((space) => ({ name: `all of ${space}`, value: `${space}/${ALL}` }))
        : []),
      { name: 'another one', value: OTHER },
    ]);
    if (answer.endsWith(`/${ALL}`)) return { namespace: answer.slice(0, -2), name: undefined };
    if (answer !== OTHER) return named(answer);
  }
  return named(
    await prompts.input(
      `${QUESTION.slice(0, -1)}, as [NAMESPACE/]NAME:`,
      problemBy(namespacedName),
    ),
  );
}

function choiceOf({ metadata, spec, status }: VolumeSnapshot): Choice {
  const name = `${metadata.namespace}/${metadata.name}`;
  const told = [
    status?.readyToUse ? 'ready' : 'not ready yet',
    ...(status?.restoreSize === undefined ? [] : [status.restoreSize]),
    ...(spec.source.persistentVolumeClaimName === undefined
      ? []
      : [`of ${spec.source.persistentVolumeClaimName}`]),
  ];
  return { name: `${name}  ${told.join(', ')}`, value: name };
}
