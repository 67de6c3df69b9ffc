import { explain } from '../../api/reasons.ts';
import { type Desired, driverOf } from '../../storage/registry.ts';
import type { ContentInput } from './types.ts';

/**
 * Returns the place of a snapshot, by its content's UID: beside the file of its volume, or in its
 * thin pool.
 * @param desired the volume on `node`
 * @param nodes all nodes that reach the file
 */
export function placeFor(
  desired: Desired,
  node: string,
  nodes: readonly string[],
  contentUid: string,
): NonNullable<ContentInput['place']> {
  const { snapshotPlace, label } = driverOf(desired);
  if (snapshotPlace === undefined)
    return explain('SnapshotsOfKindNone', { volume: desired.name, kind: label });
  const handle = snapshotPlace(desired, nodes, contentUid);
  return 'message' in handle ? handle : { node, handle };
}
