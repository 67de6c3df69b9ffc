import type { Guard, Step } from '../../nodes/job.ts';
import { setDiskGuids } from '../gpt.ts';
import type { Signature } from '../types.ts';
import { EXT4_SCRIPT, XFS_SCRIPT } from './identity-scripts.ts';

export type ContentType = 'ext4' | 'xfs' | 'gpt';

/** What can be copied; undefined for what is not ours to give another identity. */
export function contentType(signature: Signature): ContentType | undefined {
  if (signature.found !== 'one') return undefined;
  const { type } = signature;
  return type === 'ext4' || type === 'xfs' || type === 'gpt' ? type : undefined;
}

/** Gives a copy that is nothing but a file yet a UUID of its own, so that no device ever shows that of the original twice. */
export function ownIdentity(type: ContentType, uid: string, file: string, name?: string): Step {
  switch (type) {
    case 'ext4':
      return {
        name: 'check the copy and give it a UUID of its own',
        argv: ['sh', '-c', EXT4_SCRIPT, 'stowage-ext4-uuid', file, uid],
        guards: [],
      };
    case 'xfs':
      return {
        name: 'give the copy a UUID of its own',
        argv: ['sh', '-c', XFS_SCRIPT, 'stowage-xfs-uuid', file, uid],
        guards: [],
      };
    case 'gpt':
      return { name: 'give the copy GUIDs of its own', argv: setDiskGuids(uid, file, name), guards: [] };
  }
}

/** Reads back that a file has the UUID, or the table and the partition in it the GUID. */
export function hasIdentity(type: ContentType, uid: string, file: string): Guard[] {
  const table: Guard = {
    argv: ['blkid', '-p', '-o', 'value', '-s', type === 'gpt' ? 'PTUUID' : 'UUID', file],
    expect: { exit: 0, stdout: { is: uid } },
    refusal: `${file} does not have the UUID ${uid}`,
  };
  if (type !== 'gpt') return [table];
  const partition: Guard = {
    argv: ['sgdisk', '--info=1', file],
    // sgdisk prints capitals, and ends with 0 where there is no such partition.
    expect: { exit: 0, stdout: { has: `unique GUID: ${uid.toUpperCase()}`, lacks: 'does not exist' } },
    refusal: `the partition in ${file} does not have the GUID ${uid}`,
  };
  return [table, partition];
}
