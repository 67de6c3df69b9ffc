import type { KubeObject, ObjectMeta } from '../../../../api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../../api/resources.ts';
import { isNotFound, isRefusal } from '../../../../kube/errors.ts';
import type { KubeClient } from '../../../../kube/types.ts';
import { merged } from './merge.ts';

/** Live object, and the object as a manifest would have it. */
export interface Change {
  /** undefined if no such object exists. */
  live: KubeObject | undefined;
  wanted: KubeObject;
  /** Reason why the server refuses the change. */
  refusal?: string;
}

/**
 * Returns what a manifest would change, from a dry run on the server. If the server refuses it
 * (most of a Volume is immutable), merges the manifest here. Throws a StowageError.
 */
export async function changeBy(
  manifest: KubeObject,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Change> {
  const resource = manifest.kind === VOLUMES.kind ? VOLUMES : STORAGE_CLASSES;
  const patch = own(manifest);
  const { name } = manifest.metadata;
  const dry = { dryRun: true, signal };
  let live: KubeObject;
  try {
    live = await client.get(resource, name, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { live: undefined, wanted: own(await client.create(resource, patch, dry)) };
  }
  try {
    return { live: own(live), wanted: own(await client.patch(resource, name, patch, dry)) };
  } catch (error) {
    if (!isRefusal(error) || error.code === 'forbidden') throw error;
    const wanted = own(merged(live, patch) as KubeObject);
    return { live: own(live), wanted, refusal: error.message };
  }
}

/**
 * Metadata that the server sets. The namespace is included: kinds of manifests are cluster-scoped,
 * and the server drops it.
 */
const OF_THE_SERVER: readonly (keyof ObjectMeta | 'managedFields')[] = [
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
];

/** Returns an object without the fields that the server or a controller writes. */
function own(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const metadata = Object.entries(object.metadata).filter(
    ([field]) => !(OF_THE_SERVER as readonly string[]).includes(field),
  );
  return { ...rest, metadata: Object.fromEntries(metadata) as unknown as ObjectMeta };
}
