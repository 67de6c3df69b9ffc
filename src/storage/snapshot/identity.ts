import { type FsType, isFsType } from '../../api/file-systems.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { GPT_START, growTable, setDiskGuids } from '../gpt.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import { ownBlkid } from '../signature.ts';
import type { Signature } from '../types.ts';

export type ContentType = FsType | 'gpt';

/** What can be copied; undefined for what is not ours to give another identity. */
export function contentType(signature: Signature): ContentType | undefined {
  if (signature.found !== 'one') return undefined;
  const { type } = signature;
  return isFsType(type) || type === 'gpt' ? type : undefined;
}

/**
 * Gives a copy that is nothing but a file yet a UUID of its own, so that no device ever shows that of the original twice.
 * @param grow makes what is in it as large as the file, which grew to hold that many bytes of it
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
        name: 'check the copy and give it a UUID of its own',
        argv: scriptArgv('stowage-ext4-uuid', ...words),
        preconditions: [],
      };
    case 'xfs':
      return {
        name: 'give the copy a UUID of its own',
        argv: scriptArgv('stowage-xfs-uuid', ...words),
        preconditions: [],
      };
    case 'gpt':
      return grow === undefined || name === undefined
        ? {
            name: 'give the copy GUIDs of its own',
            argv: setDiskGuids(uid, file, name),
            preconditions: [],
          }
        : {
            name: 'give the copy GUIDs of its own, and grow the partition',
            argv: growTable({ uid, name }, grow, file),
            // MetalK8s did not say where it made one, and it is made anew at the same place.
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

/** sgdisk ends with 0 where there is no such partition, too. */
const partitionHas = (file: string, has: string, otherwise: Refused): Precondition => ({
  argv: ['sgdisk', '--info=1', file],
  expect: { exit: 0, stdout: { has, lacks: 'does not exist' } },
  ...otherwise,
});

/** Reads back that a file has the UUID, or the table and the partition in it the GUID. */
export function hasIdentity(type: ContentType, uid: string, file: string): Precondition[] {
  const table: Precondition = {
    argv: ownBlkid(file, 'value', type === 'gpt' ? 'PTUUID' : 'UUID'),
    expect: { exit: 0, stdout: { is: uid } },
    ...refuse('FileUuidDiffers', { file, uuid: uid }),
  };
  if (type !== 'gpt') return [table];
  // sgdisk prints capitals.
  const guid = `unique GUID: ${uid.toUpperCase()}`;
  return [table, partitionHas(file, guid, refuse('PartitionGuidDiffers', { file, guid: uid }))];
}
