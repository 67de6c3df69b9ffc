import { type FsType, isFsType } from '../../api/file-systems.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { GPT_START, growTable, setDiskGuids } from '../gpt.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import { ownBlkid } from '../signature.ts';
import type { Signature } from '../types.ts';

export type ContentType = FsType | 'gpt';

/** Returns the type of content to copy; undefined if Stowage cannot give it a new identity. */
export function contentType(signature: Signature): ContentType | undefined {
  if (signature.found !== 'one') return undefined;
  const { type } = signature;
  return isFsType(type) || type === 'gpt' ? type : undefined;
}

/**
 * Gives a copy a UUID of its own while it is only a file, so that no device shows the original's
 * UUID a second time.
 * @param grow grows the content to the file's size, which has room for this many bytes
 */
export function ownIdentity(
  type: ContentType,
  uid: string,
  file: string,
  { name, grow }: { name?: string; grow?: bigint | undefined } = {},
): Step {
  const words = [file, uid, ...(grow === undefined ? [] : ['grow'])];
  switch (type) {
    case 'ext4':
      return {
        name: 'check the copy and set its own UUID',
        argv: scriptArgv('stowage-ext4-uuid', ...words),
        preconditions: [],
      };
    case 'xfs':
      return {
        name: "set the copy's own UUID",
        argv: scriptArgv('stowage-xfs-uuid', ...words),
        preconditions: [],
      };
    case 'gpt':
      return grow === undefined || name === undefined
        ? {
            name: "set the copy's own GUIDs",
            argv: setDiskGuids(uid, file, name),
            preconditions: [],
          }
        : {
            name: "set the copy's own GUIDs, and grow the partition",
            argv: growTable({ uid, name }, grow, file),
            // MetalK8s specified no start, and the new partition begins here.
            preconditions: [
              partitionHas(
                file,
                `First sector: ${GPT_START / 512n} (`,
                refuse('PartitionElsewhere', { file }),
              ),
            ],
          };
  }
}

/** sgdisk also exits with 0 if the partition does not exist. */
const partitionHas = (file: string, has: string, otherwise: Refused): Precondition => ({
  argv: ['sgdisk', '--info=1', file],
  expect: { exit: 0, stdout: { has, lacks: 'does not exist' } },
  ...otherwise,
});

/** Preconditions that a file has the UUID, or its table and partition have the GUID. */
export function hasIdentity(type: ContentType, uid: string, file: string): Precondition[] {
  const table: Precondition = {
    argv: ownBlkid(file, 'value', type === 'gpt' ? 'PTUUID' : 'UUID'),
    expect: { exit: 0, stdout: { is: uid } },
    ...refuse('FileUuidDiffers', { file, uuid: uid }),
  };
  if (type !== 'gpt') return [table];
  // sgdisk prints uppercase.
  const guid = `unique GUID: ${uid.toUpperCase()}`;
  return [table, partitionHas(file, guid, refuse('PartitionGuidDiffers', { file, guid: uid }))];
}
