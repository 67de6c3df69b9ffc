import type { Volume } from '../../api/volume.ts';
import { onDeleteOf } from '../../volumes/desired.ts';

/** What deleting a Volume destroys, for its owner; undefined when its data is kept. */
export function lostByDeletion(volume: Volume): string | undefined {
  const { spec, status, metadata } = volume;
  const sparse = spec.sparseLoopDevice != null;
  // What was made counts, whatever the spec says by now.
  const made = status?.prepared?.paths[0];
  const what = sparse
    ? `its file${made === undefined ? '' : ` ${made}`}`
    : (made ?? spec.rawBlockDevice?.devicePath ?? 'its device');
  const loss = fateOf(what, onDeleteOf(volume), sparse);
  const node = status?.prepared?.node ?? spec.nodeName;
  return loss && `Volume ${metadata.name} on ${node}: ${loss}`;
}

function fateOf(what: string, onDelete: string, sparse: boolean): string | undefined {
  switch (onDelete) {
    case 'Retain':
      return undefined;
    case 'Wipe':
      return sparse ? `${what} is overwritten and removed` : `every byte of ${what} is overwritten`;
    default:
      return sparse
        ? `${what} is removed with all its data`
        : `the signature on ${what} is removed, and its data with it`;
  }
}

/** What making a Volume destroys, because its owner allows it; undefined when nothing. */
export function lostByCreation({ metadata, spec }: Volume): string | undefined {
  if (spec.overwrite == null) return undefined;
  const device = spec.rawBlockDevice?.devicePath ?? 'its device';
  return `Volume ${metadata.name} on ${spec.nodeName}: what is on ${device} is overwritten if it is ${spec.overwrite}`;
}
