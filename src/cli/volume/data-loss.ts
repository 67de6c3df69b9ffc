import type { Volume } from '../../api/volume.ts';
import { onDeleteOf } from '../../controllers/volume/desired-volume.ts';

/** What deleting a Volume destroys, for its owner; undefined when its data is kept. */
export function lostByDeletion(volume: Volume): string | undefined {
  const { spec, status, metadata } = volume;
  // What was made counts, whatever the spec says by now.
  const made = status?.prepared?.paths[0];
  const own =
    spec.sparseLoopDevice != null
      ? 'its file'
      : spec.lvmLogicalVolume != null
        ? 'its logical volume'
        : undefined;
  const what = own
    ? `${own}${made === undefined ? '' : ` ${made}`}`
    : (made ?? spec.rawBlockDevice?.devicePath ?? 'its device');
  const loss = fateOf(what, onDeleteOf(volume), own != null);
  const node = status?.prepared?.node ?? spec.nodeName;
  return loss && `Volume ${metadata.name} on ${node}: ${loss}`;
}

/** `own`: it is made for the Volume, and goes with it. */
function fateOf(what: string, onDelete: string, own: boolean): string | undefined {
  switch (onDelete) {
    case 'Retain':
      return undefined;
    case 'Wipe':
      return own ? `${what} is overwritten and removed` : `every byte of ${what} is overwritten`;
    default:
      return own
        ? `${what} is removed with all its data`
        : `the signature on ${what} is removed, and its data with it`;
  }
}

/** What making a Volume destroys, because its owner allows it; undefined when nothing. */
export function lostByCreation({ metadata, spec }: Volume): string | undefined {
  if (spec.overwrite == null) return undefined;
  const where = spec.lvmLogicalVolume
    ? `in the free extents of the volume group ${spec.lvmLogicalVolume.vgName}`
    : `on ${spec.rawBlockDevice?.devicePath ?? 'its device'}`;
  return `Volume ${metadata.name} on ${spec.nodeName}: what is ${where} is overwritten if it is ${spec.overwrite}`;
}
