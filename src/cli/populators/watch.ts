import { isDeepStrictEqual } from 'node:util';
import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Io } from '../io.ts';
import { followKind } from '../objects/follow-kind.ts';
import { refreshedUntil } from '../objects/watch.ts';
import { watchPrinter } from '../output/watch-printer.ts';
import type { GetPopulatorsFlags } from './get.ts';
import { fillsLinks } from './links.ts';
import { type PopulatorRow, rowsOf } from './row.ts';
import { POPULATOR_ROWS } from './table.ts';

/**
 * `stowage get populators --watch`: prints each once, and again when it changes, or which claims wait or are filled does, until the
 * signal, whose reason is thrown.
 */
export async function watchPopulators(
  names: readonly string[],
  { output, headers }: GetPopulatorsFlags,
  client: KubeClient,
  io: Io,
): Promise<never> {
  const followsLinks = await fillsLinks(client, io);
  const sort = (rows: readonly PopulatorRow[]) =>
    rows.toSorted((a, b) => a.name.localeCompare(b.name));
  const printer = watchPrinter(
    POPULATOR_ROWS,
    { ...(output === undefined ? {} : { output }), headers, sort },
    io,
  );
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
    const rows = rowsOf(definitions.list(), populators.list(), inOrder, followsLinks).filter(
      ({ name }) => names.length === 0 || names.includes(name),
    );
    const keys = new Set(rows.map(POPULATOR_ROWS.keyOf));
    const gone = [...shown].filter(([key]) => !keys.has(key));
    for (const [key] of gone) shown.delete(key);
    const changed = rows.filter(
      (row) => !isDeepStrictEqual(shown.get(POPULATOR_ROWS.keyOf(row)), row),
    );
    for (const row of changed) shown.set(POPULATOR_ROWS.keyOf(row), row);
    if (gone.length > 0)
      printer.print(
        gone.map(([, row]) => row),
        true,
      );
    if (changed.length > 0) printer.print(changed, false);
  }

  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  if (io.signal.aborted) end(io.signal.reason);
  io.signal.addEventListener('abort', () => end(io.signal.reason), { once: true });
  const reason = await refreshedUntil(ended, printer.refresh, io);
  await Promise.all(all.map((each) => each.stop()));
  throw reason;
}

const idOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
