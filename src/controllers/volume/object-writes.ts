import type { KubeObject, Resource } from '../../api/meta.ts';
import { PROTECTION_FINALIZER } from '../../api/names.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import type { Informer } from '../../kube/informer.ts';
import { patchWithRetry } from '../../kube/retry.ts';
import type { KubeClient } from '../../kube/types.ts';

/**
 * Writes of the objects that own work on nodes: Volumes, and Leftovers shown as the Volumes they
 * were.
 */
export interface ObjectWrites {
  /**
   * Writes the status. Fails with a conflict if the object differs from the cached version, as does
   * `protect` for a Volume.
   */
  writeStatus(volume: Volume, status: VolumeStatus): Promise<void>;
  protect(volume: Volume): Promise<void>;
  /** Releases the object, so that it is deleted. */
  release(volume: Volume): Promise<void>;
  /**
   * Reports whether the API server has the same state as the decision: the object, its related
   * objects, and no pause.
   */
  isCurrent(volume: Volume, node: string): Promise<boolean>;
  /** Reads the object from the API server into the cache. Returns false if it is gone. */
  refresh(name: string): Promise<boolean>;
  /** Returns the object for events. */
  objectOf(volume: Volume): KubeObject;
}

/** Removes Stowage's finalizer from an object that is being deleted. */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  informer: Informer<T>,
  resource: Resource,
  object: T | undefined,
): Promise<void> {
  if (object === undefined) return;
  const { name, uid } = object.metadata;
  // Other controllers remove their finalizers at the same time: conflicts are usual and safe to
  // retry.
  const released = await patchWithRetry<T>(client, resource, name, ({ metadata }) => {
    const finalizers = (metadata.finalizers ?? []).filter(
      (other) => other !== PROTECTION_FINALIZER,
    );
    const held = finalizers.length !== metadata.finalizers?.length;
    return metadata.uid === uid && held ? { metadata: { finalizers } } : undefined;
  });
  if (released.metadata.uid === uid) informer.recordWrite(released);
}
