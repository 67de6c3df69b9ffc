import { DEFAULT_SNAPSHOT_CLASS_ANNOTATION, DRIVER } from '../../api/names.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type { VolumeSnapshotClass } from '../../api/snapshot.ts';
import type { Freeze } from './types.ts';

/** The longest that writes of a pod may wait for the snapshot of a file system that shares blocks, in s. */
const FREEZE = 10;
/** In s. */
const LONGEST_COPY = 3600;

/** Of the sidecars of CSI drivers, and of no use here: a class that was written for both is no mistake. */
const OF_SIDECARS = 'csi.storage.k8s.io/';

/** For how long snapshots of the class may freeze a volume; without a class (it is gone): never to copy. */
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

/** The class of snapshots that name none: the only one of ours that is annotated as the default. */
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
