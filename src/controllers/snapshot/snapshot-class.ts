import { DEFAULT_SNAPSHOT_CLASS_ANNOTATION, DRIVER } from '../../api/names.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type { VolumeSnapshotClass } from '../../api/snapshot.ts';
import type { Freeze } from './types.ts';

/** Longest freeze (s) of a mounted file system whose snapshot shares blocks. */
const FREEZE = 10;
/** Upper limit (s) of `frozenCopySeconds`. */
const LONGEST_COPY = 3600;

/** Prefix of parameters for CSI sidecars. Ignored, so that one class can serve both. */
const OF_SIDECARS = 'csi.storage.k8s.io/';

/**
 * Returns how long snapshots of the class may freeze a volume. A deleted class permits no copy
 * under freeze.
 */
export function freezeOf(snapshotClass: VolumeSnapshotClass | undefined): Freeze | Explanation {
  const { frozenCopySeconds, ...others } = snapshotClass?.parameters ?? {};
  const name = snapshotClass?.metadata.name ?? '';
  const unknown = Object.keys(others).find((key) => !key.startsWith(OF_SIDECARS));
  if (unknown !== undefined) {
    const parameter = JSON.stringify(unknown);
    return explain('SnapshotClassParameterUnknown', { class: name, parameter });
  }
  if (frozenCopySeconds === undefined) return { seconds: FREEZE, copy: false };
  const seconds = /^[1-9][0-9]{0,3}$/.test(frozenCopySeconds)
    ? Number(frozenCopySeconds)
    : Number.NaN;
  if (seconds <= LONGEST_COPY) return { seconds, copy: true };
  const value = JSON.stringify(frozenCopySeconds);
  return explain('SnapshotClassFreezeInvalid', { class: name, value, most: LONGEST_COPY });
}

/**
 * Returns the class of snapshots that name none: the only class of this driver with the default
 * annotation.
 */
export function defaultClass(
  classes: readonly VolumeSnapshotClass[],
): VolumeSnapshotClass | Explanation {
  const defaults = classes.filter(
    ({ driver, metadata }) =>
      driver === DRIVER && metadata.annotations?.[DEFAULT_SNAPSHOT_CLASS_ANNOTATION] === 'true',
  );
  const [only, ...others] = defaults;
  if (only === undefined) {
    const annotation = DEFAULT_SNAPSHOT_CLASS_ANNOTATION;
    return explain('DefaultSnapshotClassMissing', { driver: DRIVER, annotation });
  }
  if (others.length === 0) return only;
  const names = defaults.map(({ metadata }) => metadata.name).sort();
  const found = { count: names.length, classes: names.join(', ') };
  return explain('DefaultSnapshotClassAmbiguous', found);
}
