import type { PersistentVolume } from '../api/core.ts';
import type { Volume } from '../api/volume.ts';
import { contentLink, earlierLink, linkOf } from '../storage/links.ts';

/**
 * Reports whether a PersistentVolume belongs to a Volume, since another one may have the same name.
 * The owner reference proves it, or the path of the device: `kubectl delete --cascade=orphan`
 * removes the owner reference. A path that only the status names proves nothing.
 */
export function isPvOf(
  pv: PersistentVolume,
  { metadata: { uid = '' }, spec, status }: Volume,
): boolean {
  const owned = pv.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
  const path = pv.spec.local?.path;
  if (owned || path === undefined) return owned;
  const named = { uid, mode: spec.mode ?? 'Filesystem' };
  // The earlier path of a logical volume has no UID in it, so the status has to name it as well.
  return (
    path === linkOf(named) ||
    path === contentLink(named) ||
    ('earlierLink' in earlierLink(path, named) && path === status?.devicePath)
  );
}
