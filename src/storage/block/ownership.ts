import { isFsType } from '../../api/file-systems.ts';
import type { DesiredRaw, DeviceFacts } from '../types.ts';

/**
 * Reports whether the device gets a partition table of its own in mode Block. A partition has a
 * table above it, and a logical volume its own name.
 */
export const hasOwnTable = (
  { mode }: Pick<DesiredRaw, 'mode'>,
  { partition, dmUuid }: DeviceFacts,
): boolean => mode === 'Block' && partition === undefined && dmUuid === undefined;

/**
 * Returns what an interrupted sgdisk, wipefs or wipe left of the Volume's table. `ours`: one copy
 * of it with the Volume's GUID, which blkid does not read. `nameless`: the MBR, or what the kernel
 * still knows of the table, which could be of any table.
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

/**
 * Reports whether the device carries what this Volume puts there. The write may still be
 * incomplete.
 */
export function isOurs({ uid, mode }: DesiredRaw, device: DeviceFacts): boolean {
  const { signature, partition, dmUuid, partitionUuids } = device;
  if (mode === 'Filesystem') {
    return signature.found === 'one' && isFsType(signature.type) && signature.uuid === uid;
  }
  if (partition !== undefined) return partition.uuid === uid;
  // Nothing is written to a logical volume: only its record makes it the Volume's.
  if (dmUuid !== undefined) return true;
  if (signature.found !== 'one' || signature.type !== 'gpt') return false;
  // MetalK8s gives the table any GUID, and its one partition this one.
  return signature.uuid === uid || (partitionUuids.length === 1 && partitionUuids[0] === uid);
}
