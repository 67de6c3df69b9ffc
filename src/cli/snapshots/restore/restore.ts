import type { Command } from 'commander';
import type { PersistentVolumeClaim, StorageClass } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { DRIVER, NO_PROVISIONER } from '../../../api/names.ts';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../../../api/resources.ts';
import type { ReferenceGrant } from '../../../api/snapshot.ts';
import { listAll } from '../../../kube/client.ts';
import type { Connection } from '../../../kube/connect.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { isGranted } from '../../../model/data-source/grant.ts';
import { grantMissing } from '../../../model/data-source/resolve.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Io } from '../../lib/io.ts';
import { followEvents } from '../../lib/objects/events.ts';
import { referrer, SNAPSHOT_TYPE, servedGrants } from '../../lib/objects/grant-kinds.ts';
import { nameOf } from '../../lib/objects/name.ts';
import { printDone } from '../../lib/objects/print.ts';
import { type NeedsAction, waited } from '../../lib/objects/wait.ts';
import { printable } from '../../lib/output/printable.ts';
import { foundIn, reading, readNamed } from '../../lib/read-result.ts';
import { claimOf, isAcross, toSnapshot, type Wanted } from './claim.ts';
import { make, type Way, wayFor } from './make.ts';
import { originOf } from './origin.ts';
import { agreeToClaim, complete, type Given } from './wizard.ts';

/**
 * Runs `stowage restore snapshot`: creates a claim that starts from a snapshot, also of another
 * namespace. Calls `connect` only if required. Throws a StowageError; no claim is left then that
 * would be bound to an empty volume.
 */
export async function restore(
  given: Given,
  command: Command,
  io: Io,
  connect: () => Promise<Connection>,
  needsAction: NeedsAction,
): Promise<void> {
  const { answers: flags, asked } = await complete(given, { command, io, live: connect });
  const { namespace, name } = flags.name;
  const { to, dryRun, output } = flags;
  const isExplicit =
    (namespace ?? flags.namespace) !== undefined && (to.namespace ?? flags.namespace) !== undefined;
  const own = isExplicit ? (flags.namespace ?? '') : (await connect()).namespace;
  const wanted: Wanted = {
    snapshot: { namespace: namespace ?? own, name },
    claim: { namespace: to.namespace ?? own, name: to.name },
  };
  if (dryRun === 'client') {
    const unknown = '--dry-run=client does not read the snapshot';
    return printDone(
      [claimOf(wanted, toSnapshot(wanted), flags, { unknown })],
      false,
      'created (dry run)',
      output,
      io,
    );
  }
  const connection = await connect();
  const { client } = connection;
  const origin = await originOf(wanted.snapshot, flags.size !== undefined, io, client);
  const claimWith = (reference: Way['reference']) => claimOf(wanted, reference, flags, origin);
  const way = await wayFor(wanted, claimWith, connection, io);
  await refuseOtherClass(way.tried, client, io);
  if (isAcross(wanted)) await noteDenied(wanted, way, connection, io);
  if (dryRun === 'server')
    return printDone([way.tried], false, 'created (server dry run)', output, io);
  if (asked) await agreeToClaim(wanted, way, flags, io);
  const made = await make(wanted, claimWith(way.reference), way, io, client);
  if (!flags.wait) return printDone([made], false, 'created', output, io);
  io.stderr.write(`${nameOf(made)} created\n`);
  await noteConsumer(made, client, io);
  const bound = await untilBound(made, flags.timeout, io, connection, needsAction);
  printDone([bound], false, 'bound', output, io);
}

/**
 * Throws a StowageError `conflict` for classes of other provisioners. Binding ignores the data
 * source, and so do some provisioners: the volume would be empty. `claim` has the given class,
 * else that of the snapshot's claim, or the default one.
 */
async function refuseOtherClass(
  { spec: { storageClassName: name } }: PersistentVolumeClaim,
  client: KubeClient,
  { signal }: Io,
): Promise<void> {
  const read = await readNamed<StorageClass>(client, STORAGE_CLASSES, name, { signal });
  const provisioner = name === '' ? NO_PROVISIONER : foundIn(read)?.provisioner;
  if (provisioner === undefined || provisioner === DRIVER) return;
  throw new StowageError(
    'conflict',
    provisioner === NO_PROVISIONER
      ? `Claims of storage class ${JSON.stringify(name)} are bound to volumes created by hand, which are not filled from a snapshot`
      : `Storage class ${name} is of the provisioner ${provisioner}, which does not restore snapshots of Stowage`,
    {
      hint: 'Set --storage-class to a dynamic class of Stowage. To create one: stowage create storageclass NAME --dynamic',
    },
  );
}

/**
 * Prints a note if no grant allows the restore. Ignores unreadable ones: the claim reports that.
 */
async function noteDenied(
  { snapshot, claim }: Wanted,
  { link }: Way,
  connection: Connection,
  io: Io,
): Promise<void> {
  const { signal } = io;
  const { namespace } = snapshot;
  const what = link === undefined ? 'claims' : 'links';
  const resource = await servedGrants(connection, signal);
  const read =
    resource &&
    (await reading(listAll<ReferenceGrant>(connection.client, resource, { namespace, signal })));
  const grants = read === undefined ? [] : foundIn(read)?.items;
  const from = referrer(what, claim.namespace);
  const to = { ...SNAPSHOT_TYPE, ...snapshot };
  if (grants === undefined || isGranted(grants, from, to)) return;
  const command = commandLine(
    'stowage',
    'grant',
    'snapshot',
    `${namespace}/${snapshot.name}`,
    '--to',
    claim.namespace,
  );
  io.stderr.write(
    printable(
      `note: ${grantMissing({ metadata: claim }, from, to).refusal}; the claim waits until it is granted: ${command}\n`,
    ),
  );
}

/** Prints a note for a class that provisions nothing before a pod uses the claim. */
async function noteConsumer(
  { metadata, spec }: PersistentVolumeClaim,
  client: KubeClient,
  io: Io,
): Promise<void> {
  const { signal } = io;
  const read = await readNamed<StorageClass>(client, STORAGE_CLASSES, spec.storageClassName, {
    signal,
  });
  if (foundIn(read)?.volumeBindingMode !== 'WaitForFirstConsumer') return;
  io.stderr.write(
    printable(
      `note: storage class ${spec.storageClassName} waits for the first pod that uses claim ${metadata.name}\n`,
    ),
  );
}

async function untilBound(
  { metadata }: PersistentVolumeClaim,
  timeoutMs: number,
  io: Io,
  connection: Connection,
  needsAction: NeedsAction,
): Promise<PersistentVolumeClaim> {
  const { client } = connection;
  const { namespace = '', name, uid } = metadata;
  const object = { kind: PERSISTENT_VOLUME_CLAIMS.kind, namespace, name };
  return waited<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, object, io, {
    uid,
    timeoutMs,
    isDone: ({ status }) => {
      if (status?.phase === 'Lost')
        throw new StowageError(
          'failed',
          `The volume of PersistentVolumeClaim ${namespace}/${name} is gone`,
          {
            object,
          },
        );
      return status?.phase === 'Bound';
    },
    progressOf: ({ status }) => status?.phase ?? 'Pending',
    needsAction: (signal) => needsAction(object, connection, io.clock.timeOfDay(), signal),
    alongside: (report, signal) =>
      followEvents(client, { namespace, name, uid }, report, io, signal),
    hint: `The daemon continues it. Find out what holds it up: ${commandLine('stowage', 'why', 'pvc', `${namespace}/${name}`)}`,
  });
}
