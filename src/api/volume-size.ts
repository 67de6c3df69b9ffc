import type { VolumeSpec } from './volume.ts';

/**
 * Returns the size in a field of a spec, as written there; undefined for a kind
 * that has the size of its device.
 */
export function sizeIn(spec: VolumeSpec, field: string): string | undefined {
  const { size } = { ...(spec as object as Record<string, { size?: string | number }>)[field] };
  return size === undefined ? undefined : String(size);
}
