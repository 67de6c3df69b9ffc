import { phaseOf } from '../../api/phase.ts';
import type { Volume } from '../../api/volume.ts';
import { onDeleteOf } from '../../model/desired-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { driverOfSpec } from '../../storage/registry.ts';

/** Returns what deleting a Volume destroys, for its owner; undefined if its data is kept. */
export function lostByDeletion(volume: Volume): string | undefined {
  const { spec, status, metadata } = volume;
  // The provisioned storage counts, whatever the spec contains by now.
  const { what, own } = driverOfSpec(spec).holdsData(spec, status?.prepared?.paths[0]);
  const loss = fateOf(what, onDeleteOf(volume), own);
  return loss && `Volume ${metadata.name} on ${nodeOf(volume)}: ${loss}`;
}

/** Returns what deleting a provisioned Volume keeps; undefined if nothing. */
export function keptByDeletion(volume: Volume): string | undefined {
  const { spec, status, metadata } = volume;
  if (status?.prepared === undefined && phaseOf(volume) !== 'Available') return undefined;
  if (onDeleteOf(volume) !== 'Retain') return undefined;
  const { what, own } = driverOfSpec(spec).holdsData(spec, status?.prepared?.paths[0]);
  const stays = own ? `${what} stays, with its data` : `the data on ${what} stays`;
  return `Volume ${metadata.name} on ${nodeOf(volume)}: ${stays}`;
}

/** Returns what becomes of storage. `own`: created for the Volume, and removed with it. */
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

/** Returns what creating a Volume destroys with its owner's permission; undefined if nothing. */
export function lostByCreation({ metadata, spec }: Volume): string | undefined {
  if (spec.overwrite == null) return undefined;
  const where = driverOfSpec(spec).overwritten?.(spec) ?? 'on its device';
  return `Volume ${metadata.name} on ${spec.nodeName}: the content ${where} is overwritten if it is ${spec.overwrite}`;
}
