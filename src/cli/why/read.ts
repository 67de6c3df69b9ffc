import type { KubeNode, StorageClass } from '../../api/core.ts';
import { NODES, STORAGE_CLASSES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { type ReadClient, readConsumers } from '../lib/objects/related.ts';
import { readNamed } from '../lib/read-result.ts';
import type { VolumeFacts } from './types.ts';

/** Reads a Volume's facts. Throws a StowageError; a refusal stands for an unreadable object. */
export async function readFacts(
  client: ReadClient,
  volume: Volume,
  signal: AbortSignal,
): Promise<VolumeFacts> {
  return {
    volume,
    ...(await readConsumers(client, volume, signal)),
    storageClass: await readNamed<StorageClass>(
      client,
      STORAGE_CLASSES,
      volume.spec.storageClassName,
      {
        signal,
      },
    ),
    node: await readNamed<KubeNode>(client, NODES, nodeOf(volume), { signal }),
  };
}
