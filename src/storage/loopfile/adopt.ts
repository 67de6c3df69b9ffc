import { basename, dirname, join } from 'node:path';
import { isFsType } from '../../api/file-systems.ts';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Probe, ProbeResult, Step } from '../../nodes/job.ts';
import { adoptionOf, forgetEarlier, giveUuid, notAdopted, otherAdoption } from '../adoption.ts';
import { onSameFileSystem, recordDirectory } from '../directory/directory-record.ts';
import { refuseDirectory } from '../directory/refuse.ts';
import { notOpenByPath } from '../in-use.ts';
import { succeeded } from '../probe-results.ts';
import { writeDone, writeIntent } from '../records.ts';
import { besideProbe, readBeside } from '../shared-fs/observe.ts';
import type { Beside } from '../shared-fs/types.ts';
import { refuseHeld, removeBeside, unheld } from '../shared-fs/unheld.ts';
import { describeSignature, ownBlkid, readable, readSignature } from '../signature.ts';
import { contentType, hasIdentity, ownIdentity } from '../snapshot/identity.ts';
import { isInSnapshots } from '../snapshot/snapshot-path.ts';
import type {
  DesiredSparse,
  EarlierFile,
  FileFacts,
  ObservedSparse,
  Plan,
  Refusal,
} from '../types.ts';
import { notAttached, partialOf, readFile, STAT, sameFile } from './file.ts';
import { volumeBytes } from './layout.ts';
import { checkContent, syncFile } from './provision.ts';

export const pathOf = ({ file }: Pick<DesiredSparse, 'file'>, from: string) =>
  join(dirname(file), from);

/** Returns probes of the file to adopt, by its earlier name. */
export function adoptProbes(desired: Pick<DesiredSparse, 'file'>, from: string): Probe[] {
  const file = pathOf(desired, from);
  return [
    { name: 'earlier path', argv: ['readlink', '-m', '--', file] },
    { name: 'earlier file', argv: [...STAT, file] },
    { name: 'earlier signature', argv: ownBlkid(file, 'export') },
    { name: 'earlier readable', argv: readable(file) },
    besideProbe('earlier holders', file),
  ];
}

/** @throws ObservationError for an answer that leaves open what is there */
export function readEarlierFile(
  desired: Pick<DesiredSparse, 'file'>,
  from: string,
  get: (name: string) => ProbeResult,
): EarlierFile {
  const file = readFile(pathOf(desired, from), get('earlier file'));
  return {
    realPath: succeeded('the path of the file', get('earlier path')),
    file,
    signature:
      file.type === 'file'
        ? readSignature(get('earlier signature'), get('earlier readable'))
        : { found: 'none' },
    beside: readBeside(pathOf(desired, from), get('earlier holders')),
  };
}

/**
 * Plans the adoption of a file with another Volume's data. The file first gets a name that is no
 * Volume's, then its UUID or GUIDs, then the Volume's name. So no file's name ever contradicts its
 * content.
 * @param from UID that names the file now
 */
export function planAdopt(desired: DesiredSparse, from: string, observed: ObservedSparse): Plan {
  const { uid, file } = desired;
  const { intent, directory } = observed;
  const other = otherAdoption(from, observed) ?? refuseEarlier(desired, from, observed);
  if (other !== undefined) return other;
  const isTaken = intent !== undefined && [observed.file, observed.partial].some(isThere);
  const forgotten = forget(desired, from, observed, isTaken);
  if (intent !== undefined && isThere(observed.file)) {
    const content = checkContent(desired, observed);
    if ('refusal' in content) return content;
    const done = [...forgotten, ...writeDone(uid, BigInt(intent.sizeBytes))];
    return { steps: [...syncFile({ file }), ...done] };
  }
  // A file under the Volume's name is used wherever it is; renames and changes need the right
  // directory.
  const elsewhere = refuseDirectory(directory, desired.requireMount);
  if (elsewhere !== undefined) return elsewhere;
  const still = [
    ...preconditionsOfEarlier(desired, from, observed),
    ...onSameFileSystem(directory),
  ];
  // Recorded first: no file is on a file system that is not on record.
  const recorded = recordDirectory(desired.uid, directory);
  if (intent !== undefined && isThere(observed.partial)) {
    const changed = change(desired, intent.fsType, desired, still);
    const done = [...forgotten, ...writeDone(uid, BigInt(intent.sizeBytes))];
    return { steps: [...recorded, ...changed, ...done] };
  }
  const found = adoptable(desired, from, observed);
  if ('refusal' in found) return found;
  const { fsType, sizeBytes, take } = found;
  const signature = `${fsType || 'gpt'}:${from}`;
  const changed = change(desired, fsType, desired, still);
  return {
    steps: [
      ...recorded,
      ...(intent === undefined
        ? writeIntent(adoptionOf(desired, from, { file }, { sizeBytes, fsType, signature }))
        : []),
      { ...take, preconditions: [...take.preconditions, ...still] },
      { name: "sync the file's directory", argv: ['sync', dirname(file)], preconditions: [] },
      ...changed,
      ...forgotten,
      ...writeDone(uid, sizeBytes),
    ],
  };
}

export const isThere = ({ type }: FileFacts): boolean => type !== 'missing';

const besideOf = ({ earlierFile }: ObservedSparse): Beside =>
  earlierFile?.beside ?? { owners: [], marks: [], unfinished: [] };

/** Refuses while a node has the file attached, which would keep writing to it under any name. */
export const refuseEarlier = (
  desired: DesiredSparse,
  from: string,
  observed: ObservedSparse,
): Refusal | undefined => refuseHeld(pathOf(desired, from), besideOf(observed));

/**
 * Returns the preconditions of the rename, and again of each change after it. A node that attached
 * the file right before the rename is seen only then.
 */
export const preconditionsOfEarlier = (
  desired: DesiredSparse,
  from: string,
  observed: ObservedSparse,
): Precondition[] => unheld(pathOf(desired, from), besideOf(observed));

/**
 * Returns steps that remove all traces of the earlier Volume, but not files beside a file that has
 * the earlier name again after the rename.
 */
function forget(
  desired: DesiredSparse,
  from: string,
  observed: ObservedSparse,
  taken: boolean,
): Step[] {
  const again = taken && observed.earlierFile?.file.type !== 'missing';
  return [
    ...(again ? [] : removeBeside(pathOf(desired, from), besideOf(observed))),
    ...forgetEarlier(from),
  ];
}

/** Returns the content of the file and the step that renames it; or why the file is not adopted. */
function adoptable(
  desired: DesiredSparse,
  from: string,
  observed: ObservedSparse,
): { fsType: string; sizeBytes: bigint; take: Step } | Refusal {
  const { mode } = desired;
  const { earlierFile: earlier } = observed;
  if (earlier === undefined) throw new Error(`the file of ${from} was not observed`);
  const file = pathOf(desired, from);
  // The script accepts no space, for sudo joins arguments with spaces: refuse before the rename.
  if (mode === 'Filesystem' && file.includes(' ')) {
    return refuse('AdoptedFilePathHasSpace', { directory: dirname(file) });
  }
  // Checks the real path too, since the directory may be a symbolic link.
  if ([file, earlier.realPath].some(isInSnapshots))
    return refuse('AdoptedFileIsSnapshot', { file });
  if (earlier.file.type === 'missing') return refuse('AdoptedFileMissing', { file });
  for (const [path, facts] of [
    [desired.file, observed.file],
    [partialOf(desired.file), observed.partial],
  ] as const) {
    if (facts.type !== 'missing') return refuse('AdoptedFileNameTaken', { file: path });
  }
  const type = contentType(earlier.signature);
  if (earlier.file.type !== 'file' || type === undefined) {
    const found =
      earlier.file.type === 'file' ? describeSignature(earlier.signature) : 'no regular file';
    return refuse('AdoptedFileForeign', { file, found });
  }
  if ((type === 'gpt') !== (mode === 'Block')) {
    const found = mode === 'Block' ? 'Filesystem' : 'Block';
    return refuse('AdoptedFileModeDiffers', { file, found, mode });
  }
  const uuid = earlier.signature.found === 'one' ? earlier.signature.uuid : undefined;
  if (type !== 'gpt' && uuid !== from) {
    return refuse('AdoptedFileUuidDiffers', { file, found: String(uuid), uid: from });
  }
  const sizeBytes = volumeBytes(mode, earlier.file.sizeBytes);
  const loop = observed.loops.find(({ backingFile }) => backingFile === earlier.realPath);
  if (loop !== undefined || sizeBytes <= 0n) {
    return loop === undefined
      ? refuse('AdoptedFileTooSmall', { file, bytes: earlier.file.sizeBytes })
      : refuse('AdoptedFileAttached', { file, device: `/dev/${loop.name}` });
  }
  const preconditions: Precondition[] = [
    notAdopted(desired),
    ...[desired.file, partialOf(desired.file)].map(notThere),
    sameFile(file, earlier.file),
    notAttached(file),
    notOpenByPath(earlier.realPath),
    // MetalK8s gives a table any GUID.
    ...hasIdentity(type, from, file).slice(type === 'gpt' ? 1 : 0),
  ];
  const take = {
    name: `rename the file ${basename(file)} for the adoption`,
    argv: ['mv', '-T', '--', file, partialOf(desired.file)],
    preconditions,
  };
  return { fsType: type === 'gpt' ? '' : type, sizeBytes, take };
}

export const notThere = (path: string): Precondition => ({
  argv: ['test', '!', '-e', path],
  expect: { exit: 0 },
  ...refuse('FileAppeared', { file: path }),
});

/**
 * Returns steps that give a file with a temporary name a UID, and the name of that UID.
 * @param still preconditions of every change
 */
export function change(
  desired: DesiredSparse,
  fsType: string,
  to: { uid: string; file: string },
  still: readonly Precondition[],
): Step[] {
  const partial = partialOf(desired.file);
  const type = isFsType(fsType) ? fsType : 'gpt';
  const preconditions = [notAdopted(desired), notThere(to.file), notAttached(partial), ...still];
  const give =
    type === 'gpt'
      ? ownIdentity(type, to.uid, partial, { name: desired.name })
      : giveUuid(type, { uid: to.uid, owner: desired.uid, path: partial }, []);
  return [
    { ...give, preconditions },
    { name: 'sync the file', argv: ['sync', partial], preconditions: [] },
    {
      name: 'rename the file to its final name',
      argv: ['mv', '-T', '--', partial, to.file],
      preconditions: [...preconditions, ...hasIdentity(type, to.uid, partial)],
    },
    { name: "sync the file's directory", argv: ['sync', dirname(to.file)], preconditions: [] },
  ];
}
