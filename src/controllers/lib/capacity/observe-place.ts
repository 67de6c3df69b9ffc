import type { StorageLocation } from '../../../model/dynamic-class.ts';
import { withHint } from '../../../nodes/job-text.ts';
import { namedDirectoryProbes, readNamedDirectory } from '../../../storage/directory/observe.ts';
import { refuseDirectory } from '../../../storage/directory/refuse.ts';
import type { RunProbes } from '../../../storage/driver.ts';
import { readView, viewProbes } from '../../../storage/lvm/view.ts';
import { answersOf } from '../../../storage/probe-results.ts';
import {
  type DirectoryRoom,
  directoryRoomProbes,
  type GroupRoom,
  groupRoomProbes,
  readDirectoryRoom,
  readGroupRoom,
} from '../../../storage/room.ts';

type SparseLocation = Extract<StorageLocation, { type: 'sparse' }>;
type LvmLocation = Extract<StorageLocation, { type: 'lvm' }>;

/** Space of a place on a node, or why a directory offers none. */
export type PlaceFacts =
  /** `of`: the directories observed. */
  | { directory: DirectoryRoom; of: readonly string[] }
  | { group: GroupRoom; place: LvmLocation }
  | { refused: string };

/**
 * Observes the space of a place on a node.
 * @param others directories of the files of volumes on the node, which may share the file system
 * @throws NodeError, ObservationError
 */
export function observePlace(
  runProbes: RunProbes,
  place: StorageLocation,
  others: readonly string[],
): Promise<PlaceFacts> {
  switch (place.type) {
    case 'sparse':
      return observeDirectory(runProbes, place, others);
    case 'lvm':
      return observeGroup(runProbes, place);
  }
}

async function observeGroup(runProbes: RunProbes, place: LvmLocation): Promise<PlaceFacts> {
  const { vgName, thinPool } = place;
  const view = readView(answersOf(await runProbes(viewProbes())));
  const results = await runProbes(groupRoomProbes(view, vgName));
  return { group: readGroupRoom(view, vgName, thinPool, results), place };
}

async function observeDirectory(
  runProbes: RunProbes,
  place: SparseLocation,
  others: readonly string[],
): Promise<PlaceFacts> {
  const { directory } = place;
  const directories = [...new Set([directory, ...others])];
  const results = await runProbes([
    ...directoryRoomProbes(directory, directories),
    ...namedDirectoryProbes(directory),
  ]);
  // An unmounted directory also reports space, but the next mount would hide files written there.
  const away = refuseDirectory(
    readNamedDirectory(directory, answersOf(results)),
    place.requireMount,
  );
  if (away !== undefined) return { refused: withHint(away.refusal, away.hint) };
  return { directory: readDirectoryRoom(directory, directories, results), of: directories };
}
