import type { PersistentVolumeClaim } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOT_LINKS } from '../../api/resources.ts';
import type { ReferenceGrant, VolumeSnapshotLink } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { about, conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { selected } from '../objects/selector.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { requiredGrants } from './kinds.ts';
import { type GrantRow, grantees, isOfVolumes, type Referrers, rowOf } from './row.ts';
import { grantRows } from './table.ts';
import { watchGrants } from './watch.ts';

export interface GetGrantsFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
  allNamespaces?: boolean;
  watch?: boolean;
  /** Whether tables have them. */
  headers: boolean;
}

/**
 * `stowage get grants`: who may use snapshots of a namespace, and who does. Throws a StowageError; with --watch it ends only
 * by the signal, which it throws.
 */
export async function getGrants(
  names: readonly string[],
  flags: GetGrantsFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  for (const flag of ['selector', 'allNamespaces'] as const) {
    if (names.length > 0 && flags[flag]) {
      throw new StowageError('usage', 'Names are of one namespace, and given without --selector');
    }
  }
  const connection = await connect();
  const resource = await requiredGrants(connection, io.signal);
  const { grants, errors } = await readGrants(names, flags, resource, connection, io);
  if (flags.watch && errors.length === 0)
    return watchGrants(grants, names, flags, resource, connection, io);
  const referrers = await readReferrers(grants, connection, io);
  const rows = grants.map((grant) => rowOf(grant, referrers));
  print(rows, names.length, errors.length > 0, flags, io);
  conclude(errors, names.length, io);
}

async function readGrants(
  names: readonly string[],
  { selector, allNamespaces }: GetGrantsFlags,
  resource: Resource,
  { client, namespace: own }: Connection,
  { signal }: Io,
): Promise<{ grants: ReferenceGrant[]; errors: unknown[] }> {
  const namespace = allNamespaces ? undefined : own;
  if (names.length === 0) {
    const list = listAll<ReferenceGrant>(client, resource, {
      namespace,
      labelSelector: selector,
      signal,
    });
    const { items } = await selected(selector, list);
    return { grants: items.filter((grant) => isOfVolumes(grant)), errors: [] };
  }
  const grants: ReferenceGrant[] = [];
  const errors: unknown[] = [];
  for (const name of names) {
    try {
      grants.push(await client.get<ReferenceGrant>(resource, name, { namespace, signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      errors.push(about(error, { kind: resource.kind, name, namespace: own }));
    }
  }
  return { grants, errors };
}

/** What refers to something, of each namespace that is granted anything. Who may not look there is told so. */
async function readReferrers(
  grants: readonly ReferenceGrant[],
  { client }: Connection,
  io: Io,
): Promise<Map<string, Referrers>> {
  const all = new Map<string, Referrers>();
  for (const namespace of new Set(grants.flatMap(grantees))) {
    const ask = async <T extends KubeObject>(resource: Resource): Promise<T[]> => {
      const read = await reading(listAll<T>(client, resource, { namespace, signal: io.signal }));
      if ('forbidden' in read)
        io.stderr.write(printable(`note: not looked at: ${read.forbidden}\n`));
      return foundIn(read)?.items ?? [];
    };
    all.set(namespace, {
      claims: await ask<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS),
      links: await ask<VolumeSnapshotLink>(VOLUME_SNAPSHOT_LINKS),
    });
  }
  return all;
}

function print(
  rows: readonly GrantRow[],
  asked: number,
  failed: boolean,
  { output, headers, allNamespaces = false }: GetGrantsFlags,
  io: Io,
): void {
  if (failed && rows.length === 0) return;
  const data = () => (asked === 1 && rows[0] !== undefined ? rows[0] : { items: rows });
  const as = grantRows(allNamespaces);
  if (output === 'json') io.stdout.write(asJson(data()));
  else if (output === 'yaml') io.stdout.write(asYaml(data()));
  else if (rows.length === 0) io.stderr.write('No grants found\n');
  else if (output === 'name')
    for (const row of rows) io.stdout.write(`${printable(as.nameOf(row))}\n`);
  else {
    const wide = output === 'wide';
    const cells = rows.map((row) => as.row(row, wide, io.clock.now(), false));
    const width = wide ? undefined : io.stdout.columns;
    io.stdout.write(table(as.headings(wide), cells, { headings: headers, width }));
  }
}
