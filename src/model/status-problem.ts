import { directoryWanted } from '../api/directory.ts';
import { isDnsSubdomain } from '../api/dns-name.ts';
import type { Prepared, Volume } from '../api/volume.ts';
import { driverOfSpec } from '../storage/registry.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns why the Volume's object allows no work on a node; undefined if it is sound. Anyone who
 * may write a status could otherwise remove any file of a node, or wipe any disk.
 */
export function statusProblem(volume: Volume): string | undefined {
  const { metadata, status } = volume;
  const { uid = '' } = metadata;
  if (!UUID.test(uid)) return `metadata.uid is ${JSON.stringify(uid)}, but must be a UUID`;
  const prepared = status?.prepared;
  if (prepared === undefined) return undefined;
  return isOurs(volume, prepared) && isDnsSubdomain(prepared.node ?? '')
    ? undefined
    : `status.prepared names ${JSON.stringify(prepared.paths)} on node ${JSON.stringify(prepared.node)}, which Stowage did not write`;
}

function isOurs(volume: Volume, { paths }: Prepared): boolean {
  const [path = '', ...others] = paths ?? [];
  return (
    others.length === 0 &&
    directoryWanted(path) === undefined &&
    driverOfSpec(volume.spec).isPlaceOf(volume, path)
  );
}
