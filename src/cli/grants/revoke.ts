import { StowageError } from '../../api/errors.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { requiredGrants } from '../lib/objects/grant-kinds.ts';
import { printDone } from '../lib/objects/print.ts';
import { printable } from '../lib/output/printable.ts';
import type { NamespacedName } from '../lib/parse.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { accessLost } from './access-lost.ts';
import { isOfVolumes } from './row.ts';

export interface RevokeFlags {
  dryRun: 'none' | 'server';
  output?: 'json' | 'yaml' | 'name';
}

/**
 * Runs `stowage revoke grant`: notes which namespaces lose access, then deletes the grant. Volumes
 * created under it stay. Throws a StowageError: `conflict` for a grant that also covers other
 * things.
 */
export async function revoke(
  { namespace, name }: NamespacedName,
  { dryRun, output }: RevokeFlags & GlobalFlags,
  io: Io,
  connection: Connection,
): Promise<void> {
  const { client } = connection;
  const { signal } = io;
  const resource = await requiredGrants(connection, signal);
  const options = { namespace: namespace ?? connection.namespace, signal };
  const grant = await client.get<ReferenceGrant>(resource, name, options);
  const { from = [], to = [] } = grant.spec;
  if (!isOfVolumes(grant) || !from.every(isOfVolumes.from) || !to.every(isOfVolumes.to)) {
    throw new StowageError(
      'conflict',
      `ReferenceGrant ${options.namespace}/${name} grants something that is neither a snapshot nor a claim`,
      {
        hint: `If nothing else needs it, delete it: kubectl delete referencegrant ${name} -n ${options.namespace}`,
        object: { kind: resource.kind, name, namespace: options.namespace },
      },
    );
  }
  // A list of the namespace may be forbidden to users who may delete this grant.
  const listed = await reading(listAll<ReferenceGrant>(client, resource, options));
  const lost = accessLost(grant, foundIn(listed)?.items);
  for (const each of lost) io.stderr.write(printable(`note: ${each}\n`));
  if (lost.length === 0)
    io.stderr.write('note: no namespace loses access: other grants allow the same\n');
  const { uid, resourceVersion } = grant.metadata;
  const server = dryRun === 'server';
  // Only the version that was checked: entries may have been added since.
  await client.delete(resource, name, { ...options, uid, resourceVersion, dryRun: server });
  printDone([grant], false, server ? 'revoked (server dry run)' : 'revoked', output, io);
}
