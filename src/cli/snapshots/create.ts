import type { PersistentVolumeClaim } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Connection } from '../../kube/connect.ts';
import type { KubeClient } from '../../kube/types.ts';
import { commandLine } from '../lib/command-line.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { CreateFlags, WaitFlags } from '../lib/objects/flags.ts';
import { missingKind } from '../lib/objects/missing-snapshots.ts';
import { nameOf } from '../lib/objects/name.ts';
import { printDone } from '../lib/objects/print.ts';
import { progressOf } from '../lib/objects/snapshot-state.ts';
import { type NeedsAction, waited } from '../lib/objects/wait.ts';
import { printable } from '../lib/output/printable.ts';
import type { NamespacedName } from '../lib/parse.ts';
import { readNamed } from '../lib/read-result.ts';

export interface CreateSnapshotFlags extends CreateFlags, WaitFlags {
  pvc: NamespacedName;
  class?: string;
}

/** Runs `stowage create snapshot`. Calls `connect` only if required. Throws a StowageError. */
export async function createSnapshot(
  { namespace: given, name }: NamespacedName,
  flags: CreateSnapshotFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<Connection>,
  needsAction: NeedsAction,
): Promise<void> {
  const { pvc, dryRun, output } = flags;
  if (given !== undefined && pvc.namespace !== undefined && given !== pvc.namespace) {
    throw new StowageError(
      'usage',
      `A snapshot must be in the namespace of its claim, which is ${pvc.namespace}`,
      {
        hint: `Create it as ${pvc.namespace}/${name}, then grant it: stowage grant snapshot ${pvc.namespace}/${name} --to ${given}`,
      },
    );
  }
  const requested = given ?? pvc.namespace ?? flags.namespace;
  if (dryRun === 'client') {
    const wanted = snapshotOf(name, requested ?? (await connect()).namespace, flags);
    return printDone([wanted], false, 'created (dry run)', output, io);
  }
  const connection = await connect();
  const { client } = connection;
  const wanted = snapshotOf(name, requested ?? connection.namespace, flags);
  const server = dryRun === 'server';
  const options = { dryRun: server, strict: true, signal: io.signal };
  // Before the write: the page shows what a command prints before its first write.
  await noteMissing(wanted, pvc.name, client, io);
  let made = await client.create(VOLUME_SNAPSHOTS, wanted, options).catch(missingKind);
  if (flags.wait && !server) {
    io.stderr.write(`${nameOf(made)} created\n`);
    made = await untilReady(made, flags.timeout, io, connection, needsAction);
  }
  printDone(
    [made],
    false,
    server ? 'created (server dry run)' : flags.wait ? 'ready' : 'created',
    output,
    io,
  );
}

const snapshotOf = (
  name: string,
  namespace: string,
  flags: CreateSnapshotFlags,
): VolumeSnapshot => ({
  apiVersion: apiVersionOf(VOLUME_SNAPSHOTS),
  kind: VOLUME_SNAPSHOTS.kind,
  metadata: { name, namespace },
  spec: {
    ...(flags.class === undefined ? {} : { volumeSnapshotClassName: flags.class }),
    source: { persistentVolumeClaimName: flags.pvc.name },
  },
});

/** Prints a note for a missing claim: a snapshot may precede it, but the name may also be wrong. */
async function noteMissing(
  { metadata }: VolumeSnapshot,
  claim: string,
  client: KubeClient,
  io: Io,
): Promise<void> {
  const { namespace } = metadata;
  const options = { namespace, signal: io.signal };
  const found = await readNamed<PersistentVolumeClaim>(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    claim,
    options,
  );
  if ('absent' in found) {
    io.stderr.write(
      printable(`note: there is no PersistentVolumeClaim ${namespace}/${claim} yet\n`),
    );
  }
}

async function untilReady(
  { metadata }: VolumeSnapshot,
  timeoutMs: number,
  io: Io,
  connection: Connection,
  needsAction: NeedsAction,
): Promise<VolumeSnapshot> {
  const { namespace = '', name, uid } = metadata;
  const object = { kind: VOLUME_SNAPSHOTS.kind, name, namespace };
  return waited<VolumeSnapshot>(connection.client, VOLUME_SNAPSHOTS, object, io, {
    uid,
    timeoutMs,
    isDone: ({ status }) => status?.readyToUse === true,
    progressOf,
    needsAction: (signal) => needsAction(object, connection, io.clock.timeOfDay(), signal),
    hint: `The daemon continues it. Find out what holds it up: ${commandLine('stowage', 'why', 'snapshot', `${namespace}/${name}`)}`,
  });
}
