import { basename, dirname } from 'node:path/posix';
import { explain } from '../api/reasons.ts';
import { snapshotUidOf } from '../api/snapshot-handle.ts';
import type { ExecutorWorkDeps } from '../controllers/snapshot/snapshot-jobs.ts';
import { desiredOf } from '../model/desired-volume.ts';
import type { ProbeResult } from '../nodes/job.ts';
import { refuseAway } from '../storage/directory/refuse.ts';
import {
  type DesiredThinSnapshot,
  type ObservedThinSnapshot,
  planThinSnapshot,
  readThin,
  thinBytes,
  thinProbes,
} from '../storage/lvm/snapshot.ts';
import { readView, viewProbes } from '../storage/lvm/view.ts';
import { answersOf } from '../storage/probe-results.ts';
import { observedCopy } from '../storage/snapshot/copy-facts.ts';
import { readSnapshot, snapshotProbes } from '../storage/snapshot/observe.ts';
import { planSnapshot } from '../storage/snapshot/plan.ts';
import type { DesiredSnapshot, ObservedSnapshot } from '../storage/snapshot/types.ts';
import type { DesiredSparse } from '../storage/types.ts';

type Wanted = DesiredSnapshot | DesiredThinSnapshot;
type Seen = ObservedSnapshot | ObservedThinSnapshot;

/** No file system may be frozen unless a snapshot is taken. */
const NO_FREEZE = { seconds: 0, copy: false };

/** Returns the storage operations of snapshots, as used by the work on nodes. */
export function snapshotStorage(
  kubeletRoot: string,
): Pick<ExecutorWorkDeps<Wanted, Seen>, 'storage' | 'wantedOf'> {
  const viewIn = (before: ReadonlyMap<string, ProbeResult>) =>
    readView(answersOf(before), kubeletRoot);
  return {
    storage: {
      before: (wanted) => (isThin(wanted) ? viewProbes() : []),
      probes: (wanted, before) =>
        isThin(wanted) ? thinProbes(wanted, viewIn(before)) : snapshotProbes(wanted),
      read: (wanted, before, results) =>
        isThin(wanted) ? readThin(wanted, viewIn(before), results) : readSnapshot(wanted, results),
      plan: (operation, wanted, seen) =>
        isThin(wanted)
          ? planThinSnapshot(operation, wanted, seen as ObservedThinSnapshot)
          : planSnapshot(operation, wanted, seen as ObservedSnapshot),
      copyOf(wanted, seen) {
        const bytes = isThin(wanted)
          ? thinBytes(wanted, seen as ObservedThinSnapshot)
          : observedCopy(wanted, seen as ObservedSnapshot);
        return bytes === undefined ? undefined : { sizeBytes: Number(bytes) };
      },
      leftOf: (wanted, seen) => (isThin(wanted) ? 0n : (seen as ObservedSnapshot).partialBytes),
      leavesFrozen: (wanted, seen) => !isThin(wanted) && (seen as ObservedSnapshot).freezeIsLeft,
      awayOf: (wanted, seen) =>
        isThin(wanted) ? undefined : refuseAway((seen as ObservedSnapshot).volume.directory),
    },
    wantedOf({ spec }, volume, node, handle, freeze) {
      const { volumeHandle = '' } = spec.source;
      if (handle.type === 'lvm') {
        const { vgName, name } = handle;
        const desired = volume && desiredOf(volume, undefined, node);
        const isThere = desired?.type === 'lvm' && desired.vgName === vgName;
        if (freeze !== undefined && !isThere)
          return explain('SnapshotVolumeMoved', { volume: volumeHandle, group: vgName });
        return {
          ...{ type: 'lvm', uid: snapshotUidOf(name), vgName, name },
          volume: isThere ? desired : undefined,
        };
      }
      const uid = basename(handle.path);
      const directory = dirname(dirname(handle.path));
      const desired = volume && desiredOf(volume, undefined, node);
      const isThere = desired?.type === 'sparse' && dirname(desired.file) === directory;
      if (freeze !== undefined && !isThere)
        return explain('SnapshotFileMoved', { volume: volumeHandle, folder: directory });
      const of = isThere ? { ...desired, kubeletRoot } : inDirectory(directory, uid, kubeletRoot);
      return { uid, volume: of, freeze: freeze ?? NO_FREEZE };
    },
  };
}

const isThin = (wanted: Wanted): wanted is DesiredThinSnapshot => 'vgName' in wanted;

/** Returns a volume known only by its directory, which suffices to observe or delete a copy. */
const inDirectory = (directory: string, uid: string, kubeletRoot: string): DesiredSparse => ({
  ...{ type: 'sparse', uid, name: uid, mode: 'Filesystem', fs: undefined, recorded: true },
  ...{ onDelete: 'Retain', kubeletRoot, onDemand: true, readOnly: false, shared: false },
  file: `${directory}/${uid}`,
  sizeBytes: 0n,
});
