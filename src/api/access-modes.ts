import type { VolumeSpec } from './volume.ts';

/** Returns the access modes in the template; none if they are absent or not a list. */
export function accessModesOf({ template }: Pick<VolumeSpec, 'template'>): readonly unknown[] {
  const modes = template?.spec?.accessModes;
  return Array.isArray(modes) ? modes : [];
}

/**
 * Reports whether the volume is a file in a directory that several nodes share, with one writer at
 * a time. Other nodes may lack data that was not written back, so no copy of it is made.
 */
export function isWrittenOnSeveral(
  spec: Pick<VolumeSpec, 'template' | 'attachableNodes'>,
): boolean {
  return (spec.attachableNodes?.length ?? 0) > 1 && !isReadOnlyShared(spec);
}

/** Reports whether several nodes may have the volume at once, each by a read-only device. */
export function isReadOnlyShared(spec: Pick<VolumeSpec, 'template' | 'attachableNodes'>): boolean {
  const modes = accessModesOf(spec);
  return spec.attachableNodes != null && modes.length === 1 && modes[0] === 'ReadOnlyMany';
}
