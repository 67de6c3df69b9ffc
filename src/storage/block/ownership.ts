import { isFsType } from '../../api/file-systems.ts';
import type { DesiredRaw, DeviceFacts } from '../types.ts';

/** In mode Block a disk gets a table of ours; a partition has one above it, and a logical volume a name of its own. */
export const hasOwnTable = (
  { mode }: Pick<DesiredRaw, 'mode'>,
  { partition, dmUuid }: DeviceFacts,
): boolean => mode === 'Block' && partition === undefined && dmUuid === undefined;

/**
 * What can be left of our table when sgdisk, wipefs or a wipe was interrupted. `ours`: one copy of it, with our GUID,
 * which blkid does not read. `nameless`: the MBR, or what the kernel still knows of it, which could be of any table.
 */
export function halfTable(
  desired: DesiredRaw,
  device: DeviceFacts,
): 'ours' | 'nameless' | undefined {
  const [table = ''] = device.content.split(';');
  if (!hasOwnTable(desired, device) || device.partitions.length > 1) return undefined;
  if (table === 'gpt') return device.tableUuids.includes(desired.uid) ? 'ours' : undefined;
  return table === 'PMBR' || table === 'no table' ? 'nameless' : undefined;
}

/** It carries what this Volume puts there. That says nothing of whether it was put there to the end. */
export function isOurs({ uid, mode }: DesiredRaw, device: DeviceFacts): boolean {
  const { signature, partition, dmUuid, partitionUuids } = device;
  if (mode === 'Filesystem') {
    return signature.found === 'one' && isFsType(signature.type) && signature.uuid === uid;
  }
  if (partition !== undefined) return partition.uuid === uid;
  // Nothing is put on a logical volume: it is the Volume's by its record alone.
  if (dmUuid !== undefined) return true;
  if (signature.found !== 'one' || signature.type !== 'gpt') return false;
  // MetalK8s gives the table any GUID, and its one partition this one.
  return signature.uuid === uid || (partitionUuids.length === 1 && partitionUuids[0] === uid);
}
