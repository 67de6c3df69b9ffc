import { basename } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { notAttached, partialOf } from '../loopfile/file.ts';
import { fileBytes, volumeBytes } from '../loopfile/layout.ts';
import { describeSignature } from '../signature.ts';
import type { DesiredSparse, Freeze, ObservedSparse, Refusal, Source } from '../types.ts';
import { leaveLoop } from './cleanup.ts';
import { copyStep } from './copy.ts';
import { type ContentType, contentType, hasIdentity, ownIdentity } from './identity.ts';
import { beingGrown, missing } from './source.ts';
import type { Content } from './types.ts';

/** Default freeze: a mounted volume is only cloned, never copied. */
const NO_COPY: Freeze = { seconds: 10, copy: false };

/**
 * Returns a volume's content as a copy of a snapshot or of another volume, with its own identity;
 * or a refusal. The source is checked again right before the copy. Without the source, nothing is
 * made, and never an empty volume.
 * @param partial path of the new file
 */
export function copyContent(
  desired: DesiredSparse,
  source: Source,
  observed: ObservedSparse,
  partial: string,
): Content | Refusal {
  const { uid, name } = desired;
  const facts = observed.source;
  if (facts === undefined) throw new Error(`${source.file} was not observed`);
  const what = `the source ${source.what} of ${name}`;
  const type = checkSource(desired, source, observed, what);
  if (typeof type !== 'string') return type;
  const left = leaveLoop(partialOf(observed.realPath), uid, observed);
  if ('refusal' in left) return left;
  const made = copyStep(
    { ...source, readOnly: false, facts },
    observed,
    source.freeze ?? NO_COPY,
    partial,
    [sameContent(type, source.file, facts.signature)],
  );
  if ('refusal' in made) return made;
  const bytes = fileBytes(desired);
  const grows = facts.file.type === 'file' && facts.file.sizeBytes < bytes;
  // Without a record, the file system may be smaller than its file. Growing one of full size
  // changes nothing. A table without a record is never grown.
  const mayBeSmaller = source.what === 'volume' && facts.madeBytes === undefined && type !== 'gpt';
  const larger: Step = {
    name: `extend the file to ${bytes} bytes`,
    argv: ['truncate', '-s', String(bytes), '--', partial],
    preconditions: [],
  };
  return {
    left: left.steps,
    steps: [
      made.step,
      ...(grows ? [larger] : []),
      ownIdentity(type, uid, partial, {
        name,
        grow: grows || mayBeSmaller ? desired.sizeBytes : undefined,
      }),
    ],
    fsType: type === 'gpt' ? '' : type,
    whole: [notAttached(partial), ...hasIdentity(type, uid, partial), ...made.whole],
  };
}

/** Returns the type of the source file's content, or why the file is not copied. */
function checkSource(
  { mode, sizeBytes, name }: DesiredSparse,
  source: Source,
  { source: facts }: ObservedSparse,
  what: string,
): ContentType | Refusal {
  const { file } = source;
  if (facts === undefined || facts.file.type === 'missing') return missing(file, what);
  const type = contentType(facts.signature);
  const uuid = facts.signature.found === 'one' ? facts.signature.uuid : undefined;
  // MetalK8s gives a table another GUID than the UID.
  const isOurs = uuid === basename(file) || (source.what === 'volume' && type === 'gpt');
  if (
    facts.file.type !== 'file' ||
    type === undefined ||
    !isOurs ||
    (type === 'gpt') !== (source.mode === 'Block')
  ) {
    const wanted = `${source.mode === 'Block' ? 'a GPT' : 'a file system'} ${basename(file)}`;
    const found = describeSignature(facts.signature);
    return refuse('CopiedFileDiffers', { what, file, wanted, found });
  }
  if (source.mode !== mode) {
    return refuse('CopiedFileModeDiffers', { volume: name, mode, what, found: source.mode });
  }
  const growing =
    source.what === 'volume' ? beingGrown(source, facts.file, facts.madeBytes) : undefined;
  if (growing !== undefined) return growing;
  const made = volumeBytes(mode, facts.file.sizeBytes);
  return sizeBytes < made
    ? refuse('CopiedFileLarger', { volume: name, bytes: sizeBytes, what, found: made })
    : type;
}

/** Precondition right before the copy: no other file has the name. */
function sameContent(
  type: ContentType,
  file: string,
  signature: ObservedSparse['signature'],
): Precondition {
  const uuid = signature.found === 'one' ? (signature.uuid ?? '') : '';
  return {
    ...(hasIdentity(type, uuid, file)[0] as Precondition),
    ...refuse('CopiedFileReplaced', { file, uuid }),
  };
}
