import { VOLUME_SNAPSHOTS } from '../../../api/resources.ts';
import type { VolumeSnapshot } from '../../../api/snapshot.ts';
import { listAll } from '../../../kube/client.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { Io } from '../io.ts';
import type { Choice } from '../prompts/prompts.ts';
import { foundIn, reading } from '../read-result.ts';
import { orOther } from './ask.ts';

export const SNAPSHOT = {
  message: 'VolumeSnapshot:',
  typed: 'VolumeSnapshot, as [NAMESPACE/]NAME:',
} as const;

/**
 * Returns the snapshots that the user may list, as NAMESPACE/NAME: of all namespaces, else of the
 * current one.
 * @param all true if `*` may stand for all snapshots of a namespace
 */
export async function snapshotChoices(
  { all }: { all: boolean },
  { client, namespace }: Connection,
  { signal }: Io,
): Promise<readonly Choice[]> {
  const list = (options: object) =>
    reading(listAll<VolumeSnapshot>(client, VOLUME_SNAPSHOTS, { signal, ...options }));
  const found = foundIn(await list({})) ?? foundIn(await list({ namespace }));
  const snapshots = (found?.items ?? []).toSorted(
    (a, b) =>
      Number(b.metadata.namespace === namespace) - Number(a.metadata.namespace === namespace),
  );
  const spaces = new Set(all ? snapshots.map(({ metadata }) => metadata.namespace ?? '') : []);
  return orOther([
    ...snapshots.map(choiceOf),
    ...[...spaces].map((space) => ({ name: `all of ${space}`, value: `${space}/*` })),
  ]);
}

function choiceOf({ metadata, spec, status }: VolumeSnapshot): Choice {
  const name = `${metadata.namespace}/${metadata.name}`;
  const details = [
    status?.readyToUse ? 'ready' : 'not ready yet',
    ...(status?.restoreSize === undefined ? [] : [status.restoreSize]),
    ...(spec.source.persistentVolumeClaimName === undefined
      ? []
      : [`of ${spec.source.persistentVolumeClaimName}`]),
  ];
  return { name: `${name}  ${details.join(', ')}`, value: name };
}
