import { isDeepStrictEqual } from 'node:util';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import type { GetRequest } from '../lib/get/resource-view.ts';
import { followKind } from '../lib/objects/follow-kind.ts';
import { refreshedUntil } from '../lib/objects/watch.ts';
import { fillsLinks } from './links.ts';
import { type PopulatorRow, rowsOf } from './row.ts';

/**
 * Runs `stowage get populators --watch`: prints each populator once, and again when it or its
 * claims change. Ends at the signal, whose reason is thrown.
 */
export async function watchPopulators(
  { names, io, connection: { client }, ...request }: GetRequest<PopulatorRow>,
  keyOf: (row: PopulatorRow) => string,
): Promise<never> {
  const followsLinks = await fillsLinks(client, io);
  const printer = request.printer();
  const shown = new Map<string, PopulatorRow>();
  const follow = <T extends KubeObject>(resource: Resource) =>
    followKind<T>(resource, { client, io, leave: printer.leave, onChange: show });
  const definitions = follow<PopulatorDefinition>(POPULATOR_DEFINITIONS);
  const populators = follow<VolumePopulator>(VOLUME_POPULATORS);
  const claims = follow<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS);
  const all = [definitions, populators, claims];

  function show(): void {
    if (!all.every((each) => each.isKnown())) return;
    const inOrder = claims.list().toSorted((a, b) => idOf(a).localeCompare(idOf(b)));
    const rows = request
      .sorted(rowsOf(definitions.list(), populators.list(), inOrder, followsLinks))
      .filter(({ name }) => names.length === 0 || names.includes(name));
    const keys = new Set(rows.map(keyOf));
    const gone = [...shown].filter(([key]) => !keys.has(key));
    for (const [key] of gone) shown.delete(key);
    const changed = rows.filter((row) => !isDeepStrictEqual(shown.get(keyOf(row)), row));
    for (const row of changed) shown.set(keyOf(row), row);
    if (gone.length > 0)
      printer.print(
        gone.map(([, row]) => row),
        true,
      );
    if (changed.length > 0) printer.print(changed, false);
  }

  const reason = await refreshedUntil(io.signal, printer.refresh, io);
  await Promise.all(all.map((each) => each.stop()));
  throw reason;
}

const idOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
