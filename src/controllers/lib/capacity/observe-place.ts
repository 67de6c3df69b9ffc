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

/** Space of a place on a node, or why a directory offers none. */
export type PlaceFacts =
  /** `of`: the directories observed. */
  { folder: DirectoryRoom; of: readonly string[] } | { group: GroupRoom } | { refused: string };

/**
 * Observes the space of a place on a node.
 * @param others directories of the files of volumes on the node, which may share the file system
 * @throws NodeError, ObservationError
 */
export async function observePlace(
  runProbes: RunProbes,
  place: StorageLocation,
  others: readonly string[],
): Promise<PlaceFacts> {
  if (place.type === 'lvm') {
    const view = readView(answersOf(await runProbes(viewProbes())));
    const results = await runProbes(groupRoomProbes(view, place.vgName));
    return { group: readGroupRoom(view, place.vgName, place.thinPool, results) };
  }
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
  return { folder: readDirectoryRoom(directory, directories, results), of: directories };
}
