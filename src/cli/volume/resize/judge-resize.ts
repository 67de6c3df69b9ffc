import { isReadOnlyShared } from '../../../api/access-modes.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import { sizeProblems } from '../../../api/spec-problems.ts';
import type { Volume } from '../../../api/volume.ts';
import { sizeIn } from '../../../api/volume-size.ts';
import { driversOf } from '../../../storage/registry.ts';
import { commandLine } from '../../lib/command-line.ts';

/** Field of the spec with the size, if the Volume can get the size; else why it cannot. */
export type ResizeVerdict =
  | { is: 'larger' | 'unchanged'; field: string }
  | { is: 'refused'; why: string; hint: string };

/**
 * Reports whether a Volume can be expanded to a size, a valid quantity. Pure. The node may still
 * lack space, or be unable to grow the storage, which the daemon reports.
 */
export function judgeResize(volume: Volume, size: string): ResizeVerdict {
  const { metadata, spec } = volume;
  const { name, deletionTimestamp } = metadata;
  const refused = (why: string, hint: string): ResizeVerdict => ({ is: 'refused', why, hint });
  if (deletionTimestamp !== undefined) {
    return refused(
      'it is being deleted',
      `See its progress: ${commandLine('stowage', 'get', 'volume', name, '-o', 'wide')}`,
    );
  }
  const [driver, ...others] = driversOf(spec);
  if (driver === undefined || others.length > 0) {
    return refused(
      'its spec must name one kind of storage',
      'Delete the Volume, and create it again.',
    );
  }
  const { field, label } = driver;
  const current = sizeIn(spec, field);
  if (current === undefined) {
    return refused(
      `a ${label} has the size of its device`,
      'Create a Volume on a larger device, and copy the data.',
    );
  }
  const [problem] = sizeProblems(`${field}.size`, current);
  if (problem !== undefined) return refused(problem, 'Delete the Volume, and create it again.');
  if (isReadOnlyShared(spec)) {
    return refused(
      'several nodes attach it read-only, and a read-only device is not expanded',
      'Create a larger Volume from the same source.',
    );
  }
  const more = parseQuantity(size) - parseQuantity(current);
  if (more < 0n) {
    return refused(
      `its size is ${current}, and a Volume never shrinks to ${size}`,
      'Create a smaller Volume, and copy the data.',
    );
  }
  return { is: more === 0n ? 'unchanged' : 'larger', field };
}

/** Returns a Volume with another size in a field of its spec. Pure. */
export const withSize = (volume: Volume, field: string, size: string): Volume => ({
  ...volume,
  spec: { ...volume.spec, [field]: { ...Reflect.get(volume.spec, field), size } },
});
