import type { DesiredRaw, DeviceFacts } from '../types.ts';

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
