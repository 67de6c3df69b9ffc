import type { Resource } from '../../api/meta.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import type { Connection } from '../../kube/connect.ts';
import type { Io } from '../io.ts';
import { watchObjects } from '../objects/watch.ts';
import { watchPrinter } from '../output/watch-printer.ts';
import type { GetGrantsFlags } from './get.ts';
import { isOfVolumes } from './row.ts';
import { grantRows } from './table.ts';
import { withUses } from './uses.ts';

/**
 * `stowage get grants --watch`: prints grants that were read already, then each again when it changes, or what uses it does,
 * until the signal, whose reason is thrown. Throws, too, when the user may not watch grants.
 */
export async function watchGrants(
  first: readonly ReferenceGrant[],
  names: readonly string[],
  { allNamespaces = false, selector, output, headers }: GetGrantsFlags,
  resource: Resource,
  { client, namespace }: Connection,
  io: Io,
): Promise<void> {
  const as = {
    ...(output === undefined ? {} : { output }),
    headers,
    sort: <T>(rows: readonly T[]): T[] => [...rows],
  };
  const printer = withUses(watchPrinter(grantRows(allNamespaces), as, io), client, io);
  const options = {
    names,
    ...(allNamespaces ? {} : { namespace }),
    ...(selector === undefined ? {} : { selector }),
    isWanted: (grant: ReferenceGrant) => names.length > 0 || isOfVolumes(grant),
  };
  try {
    await watchObjects(client, resource, first, options, printer, io);
  } finally {
    await printer.stop();
  }
}
