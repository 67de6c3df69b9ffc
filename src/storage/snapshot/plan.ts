import { dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { refuseAway } from '../directory/refuse.ts';
import { kubeletUse } from '../kubelet.ts';
import { notAttached, partialOf } from '../loopfile/file.ts';
import { checkContent } from '../loopfile/provision.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import { describeSignature } from '../signature.ts';
import type { Plan } from '../types.ts';
import { leaveLoop } from './cleanup.ts';
import { copyStep } from './copy.ts';
import { contentType, hasIdentity, ownIdentity } from './identity.ts';
import { snapshotDirectory, snapshotFile } from './snapshot-path.ts';
import { beingGrown, missing } from './source.ts';
import type { DesiredSnapshot, ObservedSnapshot } from './types.ts';
import { busy, useOf } from './use.ts';

/**
 * Returns the remaining steps to `take` or `delete` the copy, or why they cannot run. Pure: after
 * any prefix of the steps, a new observation and plan lead to the same end.
 */
export function planSnapshot(
  operation: 'take' | 'delete',
  desired: DesiredSnapshot,
  observed: ObservedSnapshot,
): Plan {
  const left = leaveLoop(observed.partialPath, desired.uid, observed.volume);
  if ('refusal' in left) return left;
  const rest = operation === 'take' ? take(desired, observed) : remove(desired, observed);
  const thawed = observed.freezeIsLeft ? [thaw(desired)] : [];
  if ('refusal' in rest) return thawed.length > 0 ? { steps: thawed } : rest;
  return { steps: [...thawed, ...left.steps, ...rest.steps] };
}

/** Thaws a volume that may still be frozen: the copying process and both watchdogs were killed. */
const thaw = ({ uid, volume }: DesiredSnapshot): Step => ({
  name: 'thaw the file system after an interrupted attempt',
  argv: scriptArgv('stowage-freeze', 'thaw', partialOf(snapshotFile(volume, uid))),
  preconditions: [],
});

/**
 * Makes the copy beside its final name, and renames it once it is whole, has a UUID of its own and
 * is on disk. No partial copy ever has the final name. A file beside it is of an earlier attempt,
 * and is removed.
 */
function take(desired: DesiredSnapshot, observed: ObservedSnapshot): Plan {
  const { uid, volume, freeze } = desired;
  const { source } = observed;
  const copy = snapshotFile(volume, uid);
  const partial = partialOf(copy);
  if (observed.copy.type !== 'missing') return checkCopy(desired, observed);
  const refused = refuseTake(desired, observed);
  if (refused !== undefined) return refused;
  const type = contentType(source.signature);
  if (type === undefined) throw new Error(`${volume.file} has content that was not checked`);
  const notThere: Precondition = {
    argv: ['test', '!', '-e', copy],
    expect: { exit: 0 },
    ...refuse('FileAppeared', { file: copy }),
  };
  const made = copyStep({ ...volume, facts: source }, observed.volume, freeze, partial, [notThere]);
  if ('refusal' in made) return made;
  const directory = snapshotDirectory(volume);
  return {
    steps: [
      {
        name: `create the directory ${directory}`,
        argv: ['mkdir', '-p', '-m', '0700', '--', directory],
        preconditions: [],
      },
      { name: 'sync its parent directory', argv: ['sync', dirname(directory)], preconditions: [] },
      ...removePartial(partial),
      made.step,
      ownIdentity(type, uid, partial),
      { name: 'sync the copy', argv: ['sync', partial], preconditions: [] },
      {
        name: 'rename the copy to its final name',
        argv: ['mv', '-T', '--', partial, copy],
        preconditions: [
          notThere,
          notAttached(partial),
          ...hasIdentity(type, uid, partial),
          ...made.whole,
        ],
      },
      { name: "sync the copy's directory", argv: ['sync', directory], preconditions: [] },
    ],
  };
}

/** Never replaces an existing file: it is the copy, or a person must check it. */
function checkCopy(
  { uid, volume }: DesiredSnapshot,
  { copy, signature, partial }: ObservedSnapshot,
): Plan {
  const path = snapshotFile(volume, uid);
  if (copy.type === 'file' && signature.found === 'one' && signature.uuid === uid) {
    return { steps: partial.type === 'missing' ? [] : removePartial(partialOf(path)) };
  }
  const found = copy.type === 'file' ? describeSignature(signature) : 'no regular file';
  return refuse('FileContentDiffers', { file: path, wanted: `the copy ${uid}`, found });
}

/** Returns why the volume cannot be copied; undefined if it can. */
function refuseTake(
  { volume }: DesiredSnapshot,
  { volume: observed, source }: ObservedSnapshot,
): Plan | undefined {
  const { file } = volume;
  if (volume.shared) return refuse('SharedFileNotCopied', { file });
  if (source.file.type === 'missing') return missing(file, `the backing file of ${volume.name}`);
  const content = checkContent(volume, observed);
  if ('refusal' in content) return content;
  const growing = beingGrown(volume, source.file, observed.done?.sizeBytes);
  if (growing !== undefined) return growing;
  const use = useOf(volume, source, observed);
  if ('refusal' in use) return use;
  // The volume may be mounted where this node's own mount table does not show it.
  const kubelet = 'mountedAt' in use ? undefined : kubeletUse(observed.kubeletFolders);
  return kubelet === undefined ? undefined : busy(file, `the volume ${volume.name}`, kubelet);
}

/** Removes the copy whatever its content, since its path identifies it. */
function remove(
  { uid, volume }: DesiredSnapshot,
  { copy, partial, volume: { directory } }: ObservedSnapshot,
): Plan {
  const path = snapshotFile(volume, uid);
  if (copy.type === 'other') return refuse('NotPlainFile', { file: path });
  const away = copy.type === 'missing' ? refuseAway(directory) : undefined;
  if (away !== undefined) return away;
  const steps = [
    ...(partial.type === 'missing' ? [] : removePartial(partialOf(path))),
    ...(copy.type === 'missing' ? [] : [removeStep(path)]),
  ];
  if (steps.length === 0) return { steps };
  return {
    steps: [
      ...steps,
      { name: 'sync its directory', argv: ['sync', dirname(path)], preconditions: [] },
    ],
  };
}

const removePartial = (partial: string): Step[] => [
  { ...removeStep(partial), name: 'remove the remains of an interrupted attempt' },
];

const removeStep = (path: string): Step => ({
  name: `remove ${path}`,
  argv: ['rm', '-f', '--', path],
  preconditions: [notAttached(path)],
});
