import type { KubeObject, Resource } from '../../api/meta.ts';
import { PROTECTION_FINALIZER } from '../../api/names.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import type { Informer } from '../../kube/informer.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { KubeClient } from '../../kube/types.ts';

/** The objects that work on nodes is done for: Volumes, and Leftovers, which are shown as the Volumes they were. */
export interface ObjectWrites {
  /** Every write fails with a conflict if the object is no longer as it is in the cache. */
  writeStatus(volume: Volume, status: VolumeStatus): Promise<void>;
  protect(volume: Volume): Promise<void>;
  /** Lets the object go. */
  release(volume: Volume): Promise<void>;
  /** Whether the API server, too, has all as it was decided on: the object, what belongs to it, and no pause. */
  isCurrent(volume: Volume, node: string): Promise<boolean>;
  /** Reads it past the caches. False when it is gone. */
  refresh(name: string): Promise<boolean>;
  /** What events are about. */
  objectOf(volume: Volume): KubeObject;
}

/** Takes our finalizer off an object that is being deleted. */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  informer: Informer<T>,
  resource: Resource,
  object: T | undefined,
): Promise<void> {
  if (object === undefined) return;
  const { name, uid } = object.metadata;
  // Others take their finalizers off at the same time, so a conflict is usual here and changes nothing.
  const released = await patchWithRetry<T>(client, resource, name, ({ metadata }) => {
    const finalizers = (metadata.finalizers ?? []).filter(
      (other) => other !== PROTECTION_FINALIZER,
    );
    const held = finalizers.length !== metadata.finalizers?.length;
    return metadata.uid === uid && held ? { metadata: { finalizers } } : undefined;
  });
  if (released.metadata.uid === uid) informer.recordWrite(released);
}
