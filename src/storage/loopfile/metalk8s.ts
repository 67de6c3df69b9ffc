import { refuse } from '../../api/reasons.ts';
import type { Precondition } from '../../nodes/job.ts';
import { metalk8sRecords } from '../metalk8s-records.ts';
import { intentOf } from '../records.ts';
import { entryBlkid, ownBlkid } from '../signature.ts';
import type { BlockDevice, DesiredSparse, LoopFacts, ObservedSparse, Plan } from '../types.ts';
import { attach } from './attach.ts';
import { loopsOf, volumeDevice } from './file-loops.ts';
import { checkContent } from './provision.ts';

/**
 * Plans the records of a file that MetalK8s made. Its UUID identifies a file system. A table has
 * any GUID, so its partition must be the device that the persistent path leads to.
 */
export function planMetalk8sRecords(desired: DesiredSparse, observed: ObservedSparse): Plan {
  const { file, uid, mode } = desired;
  const { signature } = observed;
  if (observed.file.type === 'missing') return refuse('Metalk8sFileMissing', { file });
  const content = checkContent({ ...desired, recorded: true }, { ...observed, intent: undefined });
  if ('refusal' in content) return content;
  // The number is not used, because a detached file is not attached here.
  const attached = attach(desired, observed, 0);
  if ('refusal' in attached) return attached;
  const loop = loopsOf(observed)[0];
  if (loop !== undefined && attached.steps.length > 0) {
    return refuse('Metalk8sFileLinkDiffers', { device: `/dev/${loop.name}`, file });
  }
  const device = volumeDevice(desired, observed);
  if (mode === 'Block' && (loop === undefined || device === undefined)) {
    return refuse('Metalk8sFileNotAttached', { file, uid });
  }
  const sizeBytes = madeFor(desired, observed);
  const found = signature.found === 'one' ? signature : { type: '', uuid: undefined };
  const wanted = {
    ...intentOf(desired, { file }, sizeBytes),
    fsType: mode === 'Block' ? '' : found.type,
    signature: `${found.type}:${found.uuid}`,
    ...(mode === 'Block' && found.uuid !== undefined && found.uuid !== uid
      ? { table: found.uuid }
      : {}),
  };
  const records = metalk8sRecords(
    wanted,
    sizeBytes,
    observed,
    preconditionsOf(desired, loop, device),
  );
  if ('refusal' in records) return records;
  const notes = [
    ...(loop === undefined ? ['the file is not attached: Stowage attaches it'] : []),
    ...(sizeBytes < desired.sizeBytes
      ? [
          `the file has ${sizeBytes} bytes, and the spec requests ${desired.sizeBytes}: Stowage expands it`,
        ]
      : []),
  ];
  return { ...records, ...(notes.length === 0 ? {} : { notes }) };
}

/**
 * Returns the size that counts as made. MetalK8s makes a file as long as requested, with a
 * partition of what the table leaves: that counts as the whole size.
 */
function madeFor({ sizeBytes }: DesiredSparse, { file }: ObservedSparse): bigint {
  const found = file.type === 'file' ? file.sizeBytes : 0n;
  return sizeBytes - found < 4096n ? sizeBytes : found;
}

function preconditionsOf(
  { file, uid, mode }: DesiredSparse,
  loop: LoopFacts | undefined,
  device: Pick<BlockDevice, 'name'> | undefined,
): Precondition[] {
  const value = (tag: string, path: string, argv: string[]): Precondition => ({
    argv,
    expect: { exit: 0, stdout: { is: uid } },
    ...refuse('Metalk8sFileUuidDiffers', { path, tag, uid }),
  });
  if (mode === 'Filesystem') return [value('UUID', file, ownBlkid(file, 'value', 'UUID'))];
  if (loop === undefined || device === undefined) return [];
  const path = `/dev/${loop.name}`;
  return [
    {
      argv: ['losetup', '-n', '--raw', '-O', 'BACK-INO', path],
      expect: { exit: 0, stdout: { is: loop.backingInode } },
      ...refuse('LoopFileChanged', { device: path, file }),
    },
    value(
      'PART_ENTRY_UUID',
      `/dev/${device.name}`,
      entryBlkid(`/dev/${device.name}`, 'value', 'PART_ENTRY_UUID'),
    ),
  ];
}
