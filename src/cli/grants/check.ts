import { StowageError } from '../../api/errors.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { grantFor, type NearMiss, nearMisses } from '../../model/data-source/grant.ts';
import { commandLine } from '../lib/command-line.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import {
  type GrantedTo,
  grantedTo,
  referrer,
  requiredGrants,
  SNAPSHOT_TYPE,
} from '../lib/objects/grant-kinds.ts';
import { asJson, asYaml } from '../lib/output/data.ts';
import { printable } from '../lib/output/printable.ts';
import type { NamespacedName } from '../lib/parse.ts';
import { foundIn, reading } from '../lib/read-result.ts';

export interface CheckGrantFlags {
  from: string;
  snapshot: NamespacedName;
  for?: GrantedTo;
  output?: 'json' | 'yaml';
}

/** Verdict as docs/output.md describes it. */
interface Verdict {
  for: GrantedTo;
  granted: boolean;
  /** Name of the grant; absent within a namespace, which needs none for its own snapshots. */
  by?: string;
  /** Nearest first. */
  nearMisses?: NearMiss[];
}

/**
 * Runs `stowage check grant`: reports whether claims or links of a namespace may use a snapshot.
 * Throws a StowageError: `forbidden` if none of the requested kinds may.
 */
export async function checkGrant(
  { from, snapshot, for: only, output }: CheckGrantFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const { namespace = connection.namespace, name } = snapshot;
  const to = { ...SNAPSHOT_TYPE, namespace, name };
  const grants = from === namespace ? [] : await readGrants(from, namespace, connection, io);
  const verdicts = grantedTo(only).map((what): Verdict => {
    if (from === namespace) return { for: what, granted: true };
    const found = grantFor(grants, referrer(what, from), to);
    return found === undefined
      ? { for: what, granted: false, nearMisses: nearMisses(grants, referrer(what, from), to) }
      : { for: what, granted: true, by: found.metadata.name };
  });
  const granted = verdicts.some((verdict) => verdict.granted);
  const data = { from, snapshot: { namespace, name }, granted, checks: verdicts };
  if (output === 'json') io.stdout.write(asJson(data));
  else if (output === 'yaml') io.stdout.write(asYaml(data));
  else
    io.stdout.write(printable(verdicts.flatMap((verdict) => textOf(verdict, from, to)).join('')));
  if (granted) return;
  const narrowed = only === undefined ? [] : ['--for', only];
  throw new StowageError(
    'forbidden',
    `${only ?? 'Nothing'} of namespace ${from} ${only === undefined ? 'may' : 'may not'} use VolumeSnapshot ${namespace}/${name}`,
    {
      hint: `Ask a user with write access to namespace ${namespace} to run: ${commandLine('stowage', 'grant', 'snapshot', `${namespace}/${name}`, '--to', from, ...narrowed)}`,
      object: { kind: SNAPSHOT_TYPE.kind, name, namespace },
    },
  );
}

/** Lists the grants, and readable ones misplaced in the referring namespace. */
async function readGrants(
  from: string,
  namespace: string,
  connection: Connection,
  { signal }: Io,
): Promise<ReferenceGrant[]> {
  const resource = await requiredGrants(connection, signal);
  const list = (of: string) =>
    listAll<ReferenceGrant>(connection.client, resource, { namespace: of, signal });
  const { items } = await list(namespace);
  return [...items, ...(foundIn(await reading(list(from)))?.items ?? [])];
}

function textOf(
  { for: what, granted, by, nearMisses: misses = [] }: Verdict,
  from: string,
  to: { namespace: string; name: string },
): string[] {
  const asked = `${what} of namespace ${from} ${granted ? 'may' : 'may not'} use VolumeSnapshot ${to.namespace}/${to.name}`;
  if (granted) {
    return [
      `${asked}: ${by === undefined ? 'it is in that namespace' : `by ReferenceGrant ${to.namespace}/${by}`}\n`,
    ];
  }
  if (misses.length === 0) return [`${asked}: no grant covers it\n`];
  return [
    `${asked}:\n`,
    ...misses
      .slice(0, 3)
      .map((miss) => `  ReferenceGrant ${miss.namespace}/${miss.name}: ${miss.wrong.join('; ')}\n`),
  ];
}
