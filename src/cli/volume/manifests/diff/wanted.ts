import type { KubeObject, ObjectMeta } from '../../../../api/meta.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../../../api/resources.ts';
import { isNotFound, isRefusal } from '../../../../kube/errors.ts';
import type { KubeClient } from '../../../../kube/types.ts';
import { merged } from './merge.ts';

/** An object as it is, and as a manifest would have it. */
export interface Change {
  /** undefined: there is none. */
  live: KubeObject | undefined;
  wanted: KubeObject;
  /** Why the server would not have it so. */
  refusal?: string;
}

/**
 * What a manifest would change. The server says what would come of it, and stores nothing; where it would refuse (most of a
 * Volume is immutable) it is what the manifest says. Throws a StowageError.
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

/** The namespace, too: what manifests here are of is in none, and the server takes it off. */
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

/** An object without what the server, or a controller, writes into it. */
function own(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const metadata = Object.entries(object.metadata).filter(
    ([field]) => !(OF_THE_SERVER as readonly string[]).includes(field),
  );
  return { ...rest, metadata: Object.fromEntries(metadata) as unknown as ObjectMeta };
}
