import { StowageError } from '../../api/errors.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { DEFAULT_SNAPSHOT_CLASS_ANNOTATION, DRIVER } from '../../api/names.ts';
import { VOLUME_SNAPSHOT_CLASSES } from '../../api/resources.ts';
import type { VolumeSnapshotClass } from '../../api/snapshot.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { commandLine } from '../lib/command-line.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { CreateFlags } from '../lib/objects/flags.ts';
import { missingKind } from '../lib/objects/missing-snapshots.ts';
import { printDone } from '../lib/objects/print.ts';
import { foundIn, reading } from '../lib/read-result.ts';

export interface CreateSnapshotClassFlags extends CreateFlags {
  deletionPolicy: 'Delete' | 'Retain';
  default?: boolean;
}

/**
 * Runs `stowage create snapshotclass`. Does not call `connect` for a dry run of the client. Throws
 * a StowageError.
 */
export async function createSnapshotClass(
  name: string,
  flags: CreateSnapshotClassFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const { dryRun, output } = flags;
  const wanted: VolumeSnapshotClass = {
    apiVersion: apiVersionOf(VOLUME_SNAPSHOT_CLASSES),
    kind: VOLUME_SNAPSHOT_CLASSES.kind,
    metadata: {
      name,
      ...(flags.default && { annotations: { [DEFAULT_SNAPSHOT_CLASS_ANNOTATION]: 'true' } }),
    },
    driver: DRIVER,
    deletionPolicy: flags.deletionPolicy,
  };
  if (dryRun === 'client') return printDone([wanted], false, 'created (dry run)', output, io);
  const isServer = dryRun === 'server';
  const options = { dryRun: isServer, strict: true, signal: io.signal };
  const client = await connect();
  if (flags.default) await refuseSecondDefault(name, client, io.signal);
  const made = await client.create(VOLUME_SNAPSHOT_CLASSES, wanted, options).catch(missingKind);
  printDone([made], false, isServer ? 'created (server dry run)' : 'created', output, io);
}

/**
 * Throws a StowageError `conflict` for a second default class: snapshots without a class fail then.
 */
async function refuseSecondDefault(
  name: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  const read = await reading(
    listAll<VolumeSnapshotClass>(client, VOLUME_SNAPSHOT_CLASSES, { signal }),
  );
  const other = foundIn(read)?.items.find(
    ({ driver, metadata }) =>
      driver === DRIVER &&
      metadata.name !== name &&
      metadata.annotations?.[DEFAULT_SNAPSHOT_CLASS_ANNOTATION] === 'true',
  );
  if (other === undefined) return;
  const annotation = `${DEFAULT_SNAPSHOT_CLASS_ANNOTATION}-`;
  const of = ['volumesnapshotclass', other.metadata.name, annotation];
  throw new StowageError(
    'conflict',
    `VolumeSnapshotClass ${other.metadata.name} is the default class already`,
    { hint: `To remove the default: ${commandLine('kubectl', 'annotate', ...of)}` },
  );
}
