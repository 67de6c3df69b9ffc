import type { GrantRow, Grants, UseRow } from '../../../ui/protocol.ts';
import { dataIn, errorIn, isData, listIn, notesIn, parsed } from '../command-data.ts';
import { publicName, publicPair, publicTime } from '../public-text.ts';
import type { ReadAccess } from './read-access.ts';

/** Maximum rows, and maximum parts of a row, that the page gets. */
const MOST_ROWS = 2000;
const MOST_PARTS = 100;

/** Lists grants as `stowage get grants -A` does. Throws a StowageError. */
export async function readGrants({ run, io }: Pick<ReadAccess, 'run' | 'io'>): Promise<Grants> {
  const result = await run(['get', 'grants', '-A', '-o', 'json']);
  const data = parsed(result.stdout);
  if (!isData(data)) throw errorIn(result);
  return {
    grants: listIn(data.items).slice(0, MOST_ROWS).map(grantRow),
    at: new Date(io.clock.timeOfDay()).toISOString(),
    note: notesIn(result),
  };
}

/** Returns named fields of a row of `get grants -o json`. Pure. */
export function grantRow(data: unknown): GrantRow {
  const { namespace, name, from, to, usedBy, since } = dataIn(data);
  const froms = listIn(from).slice(0, MOST_PARTS).map(dataIn);
  return {
    name: publicPair(namespace, name),
    from: froms.map((each) => `${publicName(each.namespace)} (${publicName(each.for)})`),
    to: listIn(to)
      .slice(0, MOST_PARTS)
      .map(dataIn)
      .map((each) =>
        each.name === undefined
          ? `every ${publicName(each.kind)}`
          : `${publicName(each.kind)} ${publicName(each.name)}`,
      ),
    usedBy: listIn(usedBy).slice(0, MOST_PARTS).map(useRow),
    created: publicTime(since),
  };
}

function useRow(data: unknown): UseRow {
  const { kind, namespace, name } = dataIn(data);
  return { kind: publicName(kind), name: publicPair(namespace, name) };
}
