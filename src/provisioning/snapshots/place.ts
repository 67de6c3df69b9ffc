import { dirname } from 'node:path/posix';
import { SNAPSHOTS_FOLDER } from '../../api/snapshot-handle.ts';
import type { Desired } from '../../storage/types.ts';
import type { ContentInput } from './types.ts';

/**
 * Where a snapshot is to be, by the UID of its content: beside the file of its volume.
 * @param desired the volume, as it is on `node`
 * @param nodes all that reach the file
 */
export function placeFor(
  desired: Desired,
  node: string,
  nodes: readonly string[],
  contentUid: string,
): NonNullable<ContentInput['place']> {
  switch (desired.type) {
    case 'sparse': {
      const path = `${dirname(desired.file)}/${SNAPSHOTS_FOLDER}/${contentUid}`;
      return { node, handle: { type: 'file', nodes, path } };
    }
    case 'lvm':
      return {
        problem: `Volume ${desired.name} is a logical volume, of which this version takes no snapshots`,
      };
    case 'raw':
      return { problem: `Volume ${desired.name} is a raw device, of which there are no snapshots` };
  }
}
