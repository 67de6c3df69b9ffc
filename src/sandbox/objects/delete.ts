import type { Kind, StoredObject } from '../kind.ts';
import { conflict, resourceName } from '../refusal.ts';
import { type Cluster, countsGenerations, timestamp } from './cluster.ts';

/** meta/v1 DeleteOptions, as far as they are heeded. */
export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** 0: pods, too, go at once. */
  gracePeriodSeconds?: number;
  dryRun?: string[];
}

/** The finalizers that the garbage collector works off. */
export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** Deletes, or marks as being deleted what something holds: then returns it. Throws a 409. */
export function remove(
  cluster: Cluster,
  kind: Kind,
  object: StoredObject,
  options: DeleteOptions,
): StoredObject | undefined {
  checkPreconditions(kind, object, options);
  const { metadata } = object;
  const finalizers = finalizersFor(metadata.finalizers ?? [], options.propagationPolicy);
  const table = resourceName(kind);
  const grace = graceOf(cluster, kind, object, options);
  if (finalizers.length === 0 && grace === 0) {
    if (!options.dryRun?.length) cluster.store.remove(table, object);
    return undefined;
  }
  const deleting: StoredObject = {
    ...object,
    metadata: {
      ...metadata,
      finalizers,
      deletionTimestamp:
        metadata.deletionTimestamp ?? timestamp(new Date(cluster.now().getTime() + grace * 1000)),
      deletionGracePeriodSeconds: grace,
    },
  };
  if (countsGenerations(kind) && metadata.deletionTimestamp === undefined)
    deleting.metadata.generation = (metadata.generation ?? 0) + 1;
  kind.onDelete?.(deleting);
  const same =
    metadata.deletionTimestamp !== undefined &&
    metadata.deletionGracePeriodSeconds === grace &&
    finalizers.length === (metadata.finalizers ?? []).length;
  return same || options.dryRun?.length ? deleting : cluster.store.put(table, deleting);
}

/** In seconds. Only what runs on a node that has a kubelet is given time. */
function graceOf(cluster: Cluster, kind: Kind, object: StoredObject, options: DeleteOptions): number {
  const { nodeName = '', terminationGracePeriodSeconds = 30 } = (object.spec ?? {}) as {
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
  };
  if (resourceName(kind) !== 'pods' || !cluster.kubeletNodes.has(nodeName)) return 0;
  const wanted = options.gracePeriodSeconds ?? terminationGracePeriodSeconds;
  // A deletion can be hastened, not slowed; and as there, less than nothing is a second.
  return Math.min(wanted < 0 ? 1 : wanted, object.metadata.deletionGracePeriodSeconds ?? wanted);
}

function finalizersFor(finalizers: string[], policy: DeleteOptions['propagationPolicy']): string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  if (policy === 'Background') return others;
  return [...others, policy === 'Orphan' ? ORPHAN : FOREGROUND];
}

function checkPreconditions(kind: Kind, object: StoredObject, { preconditions }: DeleteOptions): void {
  const { name, uid, resourceVersion } = object.metadata;
  const failed = (field: string, given: string, found: string | undefined) =>
    conflict(
      kind,
      name,
      `Precondition failed: ${field} in precondition: ${given}, ${field} in object meta: ${found}`,
    );
  if (preconditions?.uid !== undefined && preconditions.uid !== uid)
    throw failed('UID', preconditions.uid, uid);
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion)
    throw failed('ResourceVersion', preconditions.resourceVersion, resourceVersion);
}
