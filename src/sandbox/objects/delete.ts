import type { Kind, StoredObject } from '../kind.ts';
import { conflict, resourceName } from '../refusal.ts';
import { type Cluster, countsGenerations, holders, timestamp } from './cluster.ts';

/** Supported part of meta/v1 DeleteOptions. */
export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** 0 removes pods at once, too. */
  gracePeriodSeconds?: number;
  dryRun?: string[];
  /** Former field for the policy. */
  orphanDependents?: boolean;
}

/** Finalizers that the garbage collector processes. */
export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/**
 * Deletes an object; if something holds it, marks it as being deleted and returns it. Throws a 409.
 */
export function remove(
  cluster: Cluster,
  kind: Kind,
  object: StoredObject,
  options: DeleteOptions,
): StoredObject | undefined {
  checkPreconditions(kind, object, options);
  const { metadata } = object;
  const own = metadata.finalizers ?? [];
  const held =
    kind.deletionFinalizer && !own.includes(kind.deletionFinalizer) ? [kind.deletionFinalizer] : [];
  const finalizers = finalizersFor([...own, ...held], options.propagationPolicy);
  const table = resourceName(kind);
  const grace = graceOf(cluster, kind, object, options);
  const next = { ...object, metadata: { ...metadata, finalizers } };
  if (holders(table, next).length === 0 && grace === 0) {
    if (!options.dryRun?.length) cluster.store.remove(table, object);
    return undefined;
  }
  const deleting: StoredObject = {
    ...object,
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      deletionTimestamp:
        metadata.deletionTimestamp ?? timestamp(new Date(cluster.now().getTime() + grace * 1000)),
      // Namespaces have a deletion process of their own.
      ...(table === 'namespaces' ? {} : { deletionGracePeriodSeconds: grace }),
    },
  };
  if (countsGenerations(kind) && metadata.deletionTimestamp === undefined)
    deleting.metadata.generation = (metadata.generation ?? 0) + 1;
  kind.onDelete?.(deleting);
  const same =
    metadata.deletionTimestamp !== undefined &&
    metadata.deletionGracePeriodSeconds === deleting.metadata.deletionGracePeriodSeconds &&
    finalizers.length === (metadata.finalizers ?? []).length;
  return same || options.dryRun?.length ? deleting : cluster.store.put(table, deleting);
}

/** Returns the grace period in seconds: 0 except for pods on a node with a kubelet. */
function graceOf(
  cluster: Cluster,
  kind: Kind,
  object: StoredObject,
  options: DeleteOptions,
): number {
  const { nodeName = '', terminationGracePeriodSeconds = 30 } = (object.spec ?? {}) as {
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
  };
  if (resourceName(kind) !== 'pods' || !cluster.kubeletNodes.has(nodeName)) return 0;
  const wanted = options.gracePeriodSeconds ?? terminationGracePeriodSeconds;
  // Another deletion can shorten the period, not extend it. A negative one
  // means a second, as in Kubernetes.
  return Math.min(wanted < 0 ? 1 : wanted, object.metadata.deletionGracePeriodSeconds ?? wanted);
}

function finalizersFor(finalizers: string[], policy: DeleteOptions['propagationPolicy']): string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  if (policy === 'Background') return others;
  return [...others, policy === 'Orphan' ? ORPHAN : FOREGROUND];
}

/** Checks preconditions with the text of BeforeDelete, which takes the kind for the resource. */
function checkPreconditions(
  kind: Kind,
  { metadata }: StoredObject,
  { preconditions }: DeleteOptions,
): void {
  const { name, uid, resourceVersion } = metadata;
  const failed = (field: string, given: string, found: string | undefined, happened: string) =>
    conflict(
      { ...kind, plural: kind.kind },
      name,
      `the ${field} in the precondition (${given}) does not match the ${field} in record (${found}). The object might have been ${happened}`,
    );
  if (preconditions?.uid !== undefined && preconditions.uid !== uid)
    throw failed('UID', preconditions.uid, uid, 'deleted and then recreated');
  if (
    preconditions?.resourceVersion !== undefined &&
    preconditions.resourceVersion !== resourceVersion
  )
    throw failed('ResourceVersion', preconditions.resourceVersion, resourceVersion, 'modified');
}
