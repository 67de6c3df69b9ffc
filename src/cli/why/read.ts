import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../api/core.ts';
import { READY_REASON } from '../../api/names.ts';
import { type ReasonCode, readReason } from '../../api/reasons.ts';
import { NODES, PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { targetOf, targetUidOf } from '../../controllers/populator/objects.ts';
import { listAll } from '../../kube/client.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { type ReadClient, readConsumers } from '../lib/objects/related.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn, type Reading, reading, readNamed } from '../lib/read-result.ts';
import { readPlacement } from './placement.ts';
import { isStuck } from './state.ts';
import type { VolumeFacts } from './types.ts';

/** Reads a Volume's facts. Throws a StowageError; a refusal stands for an unreadable object. */
export async function readFacts(
  client: ReadClient,
  volume: Volume,
  signal: AbortSignal,
): Promise<VolumeFacts> {
  const consumers = await readConsumers(client, volume, signal);
  const node = await readNamed<KubeNode>(client, NODES, nodeOf(volume), { signal });
  const pv = foundIn(consumers.pv);
  const { storageClassName } = volume.spec;
  const storageClass = await readNamed<StorageClass>(client, STORAGE_CLASSES, storageClassName, {
    signal,
  });
  return {
    volume,
    ...consumers,
    storageClass,
    ...(readyOf(volume)?.reason === READY_REASON.creationError &&
      (await readClassNames(client, storageClass, signal))),
    node,
    ...(pv !== undefined &&
      isPvOf(pv, volume) &&
      readyOf(volume)?.status === 'True' && {
        placement: await readPlacement(client, volume, pv, node, signal),
      }),
    ...(isStuck(volume) && (await readDeletable(client, volume, signal))),
  };
}

/** Reads the names of existing classes if a class is missing. Throws a StowageError. */
export async function readClassNames(
  client: Pick<ReadClient, 'list'>,
  storageClass: Reading<StorageClass>,
  signal: AbortSignal,
): Promise<Pick<VolumeFacts, 'classes'>> {
  if (!('absent' in storageClass)) return {};
  const read = await reading(listAll<StorageClass>(client, STORAGE_CLASSES, { signal }));
  const found = foundIn(read);
  return found === undefined ? {} : { classes: found.items.map(({ metadata }) => metadata.name) };
}

/** Reads the objects that fixes of a Failed Volume may delete by their names. */
async function readDeletable(
  client: ReadClient,
  volume: Volume,
  signal: AbortSignal,
): Promise<Pick<VolumeFacts, 'templateClaim' | 'target' | 'otherVolume'>> {
  const claim = claimOf(volume);
  const reason = readReason(readyOf(volume)?.detail);
  const isTaken = reason?.code === ('DeviceOfAnother' satisfies ReasonCode);
  const other = isTaken ? reason.parameters.volume : undefined;
  const templateClaim = claim && (await readClaim(claim));
  const prime = templateClaim && foundIn(templateClaim);
  const isPrime = prime !== undefined && targetUidOf(prime.metadata.name) !== undefined;
  const target = isPrime ? targetOf(prime) : undefined;
  return {
    ...(templateClaim && { templateClaim }),
    ...(target && { target: await readClaim(target) }),
    ...(other !== undefined && {
      otherVolume: await readNamed<Volume>(client, VOLUMES, other, { signal }),
    }),
  };

  function readClaim({
    name,
    namespace,
  }: {
    name: string;
    namespace: string;
  }): Promise<Reading<PersistentVolumeClaim>> {
    const options = { namespace, signal };
    return readNamed<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, name, options);
  }
}
