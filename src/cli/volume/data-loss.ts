import type { Volume } from '../../api/volume.ts';
import { nodeOf, onDeleteOf } from '../../model/desired-volume.ts';
import { driverOfSpec } from '../../storage/registry.ts';

/** What deleting a Volume destroys, for its owner; undefined when its data is kept. */
export function lostByDeletion(volume: Volume): string | undefined {
  const { spec, status, metadata } = volume;
  // What was made counts, whatever the spec says by now.
  const { what, own } = driverOfSpec(spec).holdsData(spec, status?.prepared?.paths[0]);
  const loss = fateOf(what, onDeleteOf(volume), own);
  return loss && `Volume ${metadata.name} on ${nodeOf(volume)}: ${loss}`;
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
  const where = driverOfSpec(spec).overwritten?.(spec) ?? 'on its device';
  return `Volume ${metadata.name} on ${spec.nodeName}: what is ${where} is overwritten if it is ${spec.overwrite}`;
}
