import { explain } from '../../api/reasons.ts';
import { type Desired, driverOf } from '../../storage/registry.ts';
import type { ContentInput } from './types.ts';

/**
 * Where a snapshot is to be, by the UID of its content: beside the file of its volume, or in its thin pool.
 * @param desired the volume, as it is on `node`
 * @param nodes all that reach the file
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
