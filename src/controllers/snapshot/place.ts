import { dirname } from 'node:path/posix';
import { SNAPSHOTS_FOLDER, snapshotLvName } from '../../api/snapshot-handle.ts';
import type { Desired } from '../../storage/types.ts';
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
  switch (desired.type) {
    case 'sparse': {
      const path = `${dirname(desired.file)}/${SNAPSHOTS_FOLDER}/${contentUid}`;
      return { node, handle: { type: 'file', nodes, path } };
    }
    case 'lvm': {
      const { vgName, thinPool } = desired;
      if (thinPool === undefined) {
        return {
          problem: `Volume ${desired.name} is a logical volume outside a thin pool, of which there are no snapshots. Copy its data within a pod, to a volume of a class with a thinPool`,
        };
      }
      return {
        node,
        handle: { type: 'lvm', nodes: [node], vgName, name: snapshotLvName(contentUid) },
      };
    }
    case 'raw':
      return { problem: `Volume ${desired.name} is a raw device, of which there are no snapshots` };
  }
}
