import type { Command } from 'commander';
import { StowageError } from '../../api/errors.ts';
import type { Resource } from '../../api/meta.ts';
import { REFERENCE_GRANTS, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { isAlreadyExists, isConflict } from '../../kube/errors.ts';
import { grantFor } from '../../model/data-source/grant.ts';
import type { Io } from '../lib/io.ts';
import {
  type GrantedTo,
  grantedTo,
  referrer,
  requiredGrants,
  SNAPSHOT_TYPE,
} from '../lib/objects/grant-kinds.ts';
import { printDone } from '../lib/objects/print.ts';
import { printable } from '../lib/output/printable.ts';
import { readNamed } from '../lib/read-result.ts';
import { grantOf, nameFor, type Wanted, widened } from './manifest.ts';
import { agreeToGrant, complete, type Given } from './wizard.ts';

/** Number of attempts: others may write the same grant concurrently. */
const TRIES = 3;

/**
 * Runs `stowage grant snapshot`. Prompts for missing values on a terminal, and keeps what is
 * already granted. Calls `connect` only if required. Throws a StowageError.
 */
export async function grant(
  given: Given,
  command: Command,
  io: Io,
  connect: () => Promise<Connection>,
): Promise<void> {
  const { answers: flags, asked } = await complete(given, { command, io, live: connect });
  const { name: snapshot, to, dryRun, output } = flags;
  const namespace = snapshot.namespace ?? flags.namespace ?? (await connect()).namespace;
  const wanted: Wanted = { namespace, snapshot: snapshot.name, to, what: grantedTo(flags.for) };
  if (namespace === to) {
    throw new StowageError('usage', `Namespace ${to} may use its own snapshots without a grant`);
  }
  if (dryRun === 'client') {
    // Every API server with grants serves this version.
    const made = grantOf(wanted, { ...REFERENCE_GRANTS, version: 'v1beta1' });
    return printDone([made], false, 'created (dry run)', output, io);
  }
  const connection = await connect();
  const resource = await requiredGrants(connection, io.signal);
  // Before the write: the page shows what a command prints before its first write.
  await noteMissing(wanted, connection, io);
  if (asked && dryRun === 'none') {
    await agreeToGrant(grantOf(wanted, resource), { namespace, name: snapshot.name }, flags, io);
  }
  const { made, did } = await ensured(wanted, resource, dryRun === 'server', connection, io);
  printDone([made], false, `${did}${dryRun === 'server' ? ' (server dry run)' : ''}`, output, io);
}

async function ensured(
  wanted: Wanted,
  resource: Resource,
  dryRun: boolean,
  { client }: Connection,
  { signal }: Io,
): Promise<{ made: ReferenceGrant; did: string }> {
  const { namespace } = wanted;
  const options = { namespace, signal, dryRun };
  for (let left = TRIES; ; left--) {
    const { items } = await listAll<ReferenceGrant>(client, resource, { namespace, signal });
    const granted = wanted.what.map((each) => granting(items, wanted, each));
    const [first] = granted;
    if (first !== undefined && granted.every((each) => each !== undefined))
      return { made: first, did: 'already grants that' };
    const name = nameFor(wanted);
    const there = items.find(({ metadata }) => metadata.name === name);
    try {
      if (there === undefined) {
        const made = await client.create(resource, grantOf(wanted, resource), {
          ...options,
          strict: true,
        });
        return { made, did: 'created' };
      }
      const from = widened(there, wanted);
      if (from === undefined || there.metadata.deletionTimestamp !== undefined)
        throw conflictingGrant(there);
      const { resourceVersion } = there.metadata;
      const patch = { metadata: { resourceVersion }, spec: { from } };
      return { made: await client.patch(resource, name, patch, options), did: 'changed' };
    } catch (error) {
      if (left === 1 || !(isAlreadyExists(error) || isConflict(error))) throw error;
    }
  }
}

/** Finds an existing grant. A grant of all snapshots names none; only it matches an empty name. */
const granting = (
  grants: readonly ReferenceGrant[],
  { namespace, snapshot = '', to }: Wanted,
  what: GrantedTo,
) => grantFor(grants, referrer(what, to), { ...SNAPSHOT_TYPE, namespace, name: snapshot });

function conflictingGrant({
  metadata: { namespace = '', name, deletionTimestamp },
}: ReferenceGrant): StowageError {
  const why =
    deletionTimestamp === undefined ? 'was changed to grant something else' : 'is being deleted';
  return new StowageError(
    'conflict',
    `ReferenceGrant ${namespace}/${name} already exists, and ${why}`,
    {
      hint: `List it: stowage get grants -n ${namespace} ${name}. If it is not needed, revoke it: stowage revoke grant ${namespace}/${name}`,
      object: { kind: REFERENCE_GRANTS.kind, name, namespace },
    },
  );
}

/** Prints a note for a missing snapshot: a grant may precede it, but the name may also be wrong. */
async function noteMissing(
  { namespace, snapshot }: Wanted,
  { client }: Connection,
  io: Io,
): Promise<void> {
  if (snapshot === undefined) return;
  const found = await readNamed(client, VOLUME_SNAPSHOTS, snapshot, {
    namespace,
    signal: io.signal,
  });
  if ('absent' in found)
    io.stderr.write(printable(`note: there is no VolumeSnapshot ${namespace}/${snapshot} yet\n`));
}
