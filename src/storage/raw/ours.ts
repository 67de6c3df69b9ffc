import type { DesiredRaw, DeviceFacts } from '../types.ts';

/** In mode Block a disk gets a table of ours; a partition has one above it, and a logical volume a name of its own. */
export const hasOwnTable = (
  { mode }: Pick<DesiredRaw, 'mode'>,
  { partition, dmUuid }: DeviceFacts,
): boolean => mode === 'Block' && partition === undefined && dmUuid === undefined;

/**
 * What can be left of our table when sgdisk, wipefs or a wipe was interrupted: one copy, whose GUID is not read, the
 * MBR, or what the kernel still knows of it.
 */
export function isHalfTable(desired: DesiredRaw, device: DeviceFacts): boolean {
  const [table = ''] = device.content.split(';');
  return (
    hasOwnTable(desired, device) &&
    ['gpt', 'PMBR', 'no table'].includes(table) &&
    device.partitions.length <= 1
  );
}

/** It carries what this Volume puts there. That says nothing of whether it was put there to the end. */
export function isOurs({ uid, mode }: DesiredRaw, { signature, partition, dmUuid }: DeviceFacts): boolean {
  if (mode === 'Filesystem') {
    const known = signature.found === 'one' && (signature.type === 'ext4' || signature.type === 'xfs');
    return known && signature.uuid === uid;
  }
  if (partition !== undefined) return partition.uuid === uid;
  // Nothing is put on a logical volume: it is the Volume's by its record alone.
  if (dmUuid !== undefined) return true;
  return signature.found === 'one' && signature.type === 'gpt' && signature.uuid === uid;
}
