import type { PopulatorRow, Populators, UseRow } from '../../../ui/protocol.ts';
import { dataIn, errorIn, isData, listIn, notesIn, parsed } from '../command-data.ts';
import { publicName, publicPair, publicTime } from '../public-text.ts';
import type { ReadAccess } from './read-access.ts';

/** Maximum rows, and maximum claims of a row, that the page gets. */
const MOST_ROWS = 2000;
const MOST_CLAIMS = 100;

/** Lists populators as `stowage get populators` does. Throws a StowageError. */
export async function readPopulators({
  run,
  io,
}: Pick<ReadAccess, 'run' | 'io'>): Promise<Populators> {
  const result = await run(['get', 'populators', '-o', 'json']);
  const data = parsed(result.stdout);
  if (!isData(data)) throw errorIn(result);
  return {
    populators: listIn(data.items).slice(0, MOST_ROWS).map(populatorRow),
    at: new Date(io.clock.timeOfDay()).toISOString(),
    note: notesIn(result),
  };
}

/** Returns named fields of a row of `get populators -o json`. Pure. */
export function populatorRow(data: unknown): PopulatorRow {
  const { name, group, kind, registered, image, builtin, provisioner, claims, since } =
    dataIn(data);
  const uses = (waits: boolean): UseRow[] =>
    listIn(claims)
      .map(dataIn)
      .filter((each) => (each.waits === true) === waits)
      .slice(0, MOST_CLAIMS)
      .map((each) => ({
        kind: 'PersistentVolumeClaim',
        name: publicPair(each.namespace, each.name),
      }));
  const onNode = typeof builtin === 'string' ? `on the node, ${publicName(builtin)}` : '';
  return {
    name: publicName(name),
    source: `${publicName(kind)}.${publicName(group)}`,
    by: publicName(image) || publicName(provisioner) || onNode || 'others',
    registered: registered === true,
    waiting: uses(true),
    filled: uses(false),
    created: publicTime(since),
  };
}
