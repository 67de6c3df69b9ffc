import type { VolumeSpec } from './volume.ts';

/** The access modes that the template asks for; none where it asks for none, or for what is no list. */
export function accessModesOf({ template }: Pick<VolumeSpec, 'template'>): readonly unknown[] {
  const modes = template?.spec?.accessModes;
  return Array.isArray(modes) ? modes : [];
}

/**
 * Whether the volume is a file in a directory that several nodes share, which one at a time writes. On another node it is not
 * seen what was not written back, so no copy is made of it.
 */
export function isWrittenOnSeveral(
  spec: Pick<VolumeSpec, 'template' | 'attachableNodes'>,
): boolean {
  return (spec.attachableNodes?.length ?? 0) > 1 && !isReadOnlyShared(spec);
}

/** Whether several nodes may have the volume at once, each by a device that cannot be written to. */
export function isReadOnlyShared(spec: Pick<VolumeSpec, 'template' | 'attachableNodes'>): boolean {
  const modes = accessModesOf(spec);
  return spec.attachableNodes != null && modes.length === 1 && modes[0] === 'ReadOnlyMany';
}
