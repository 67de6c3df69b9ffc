import { dirname, join } from 'node:path';
import { isFsType } from '../../api/file-systems.ts';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { onSameFileSystem, recordDirectory } from '../directory/directory-record.ts';
import { refuseAway, refuseDirectory } from '../directory/refuse.ts';
import { donePath, intentOf, RECORDS, writeDone, writeIntent } from '../records.ts';
import { describeSignature } from '../signature.ts';
import type { Content } from '../snapshot/types.ts';
import type { DesiredSparse, ObservedSparse, Plan } from '../types.ts';
import { contentOf } from './content.ts';
import { partialOf } from './file.ts';

/**
 * Plans the steps after which the file exists with its content and is recorded as done.
 *
 * The file is made under a temporary name, and renamed when it is complete and synced. So the file
 * is never incomplete under its own name, and the intent record permits to make the temporary one
 * again.
 */
export function planProvision(desired: DesiredSparse, observed: ObservedSparse): Plan {
  const { file } = desired;
  if (desired.recorded || observed.done) {
    if (observed.file.type !== 'missing') return checkContent(desired, observed);
    return refuseAway(observed.directory) ?? refuse('MadeFileMissing', { file });
  }
  const { intent } = observed;
  if (intent !== undefined && (intent.uid !== desired.uid || intent.file !== file)) {
    const recorded = String(intent.file ?? intent.device?.path);
    return refuse('OtherFileOnRecord', { recorded, file });
  }
  if (intent !== undefined && observed.file.type !== 'missing') {
    const content = checkContent(desired, observed);
    return 'refusal' in content
      ? content
      : { steps: [...syncFile(desired), ...writeDone(desired.uid, BigInt(intent.sizeBytes))] };
  }
  // Also for a half-made volume, whose unfinished file is on the other file system.
  const elsewhere = refuseDirectory(observed.directory, desired.requireMount);
  if (elsewhere !== undefined) return elsewhere;
  const { earlier = [] } = observed;
  if (intent === undefined && earlier.length > 0) return madeBefore(desired, earlier);
  const content = contentOf(desired, observed);
  if ('refusal' in content) return content;
  if (intent === undefined) {
    for (const [path, facts] of [
      [file, observed.file],
      [partialOf(file), observed.partial],
    ] as const) {
      if (facts.type !== 'missing') return refuse('FileExists', { file: path });
    }
  }
  const wanted = { ...intentOf(desired, { file }, desired.sizeBytes), fsType: content.fsType };
  return {
    steps: [
      ...content.left,
      // Recorded first: no file is on a file system that is not on record.
      ...recordDirectory(desired.uid, observed.directory),
      ...makeDirectory(desired),
      // Written again if the requested size changed.
      ...(JSON.stringify(intent) === JSON.stringify(wanted) ? [] : writeIntent(wanted)),
      ...makeFile(desired, observed, content),
      ...writeDone(desired.uid, desired.sizeBytes),
    ],
  };
}

/**
 * Refuses to provision a volume again. An API server that was restored to when a claim was pending
 * lacks the volume that the claim got since.
 */
function madeBefore({ name, file }: DesiredSparse, records: readonly string[]): Plan {
  const uids = [...new Set(records.map((record) => record.replace(/\..*/, '')))];
  return refuse('VolumeMadeBefore', {
    volume: name,
    uids: uids.join(', '),
    directory: dirname(file),
    files: uids.map((uid) => join(dirname(file), uid)).join(', '),
    records: join(RECORDS, `${uids[0]}.*`),
  });
}

/**
 * Checks that the file is a regular file with the Volume's content and nothing else. No steps
 * remain then.
 */
export function checkContent(desired: DesiredSparse, observed: ObservedSparse): Plan {
  const { file, uid, mode } = desired;
  const { signature } = observed;
  if (observed.file.type !== 'file') return refuse('NotPlainFile', { file });
  if (signature.found === 'one' && isOurs(desired, observed, signature)) return { steps: [] };
  const wanted = mode === 'Block' ? `a GPT ${uid}` : `a file system ${uid}`;
  return refuse('FileContentDiffers', { file, wanted, found: describeSignature(signature) });
}

function isOurs(
  { uid, mode, recorded }: DesiredSparse,
  { intent }: ObservedSparse,
  { type, uuid }: { type: string; uuid?: string },
): boolean {
  if (mode === 'Filesystem') return isFsType(type) && uuid === uid;
  if (type !== 'gpt') return false;
  // MetalK8s gives the table its own GUID; the takeover recognized the partition by the link.
  return (
    uuid === uid ||
    (uuid !== undefined && uuid === intent?.table) ||
    (recorded && intent === undefined)
  );
}

function makeDirectory(desired: DesiredSparse): Step[] {
  const directory = dirname(desired.file);
  return [
    {
      name: `create the directory ${directory}`,
      argv: ['mkdir', '-p', '-m', '0700', '--', directory],
      preconditions: [],
    },
  ];
}

function makeFile(
  desired: DesiredSparse,
  { directory }: ObservedSparse,
  { steps, whole }: Content,
): Step[] {
  const { file, uid } = desired;
  const partial = partialOf(file);
  // A delayed job may run after another one, or after the file was made and lost: never make it
  // again.
  const notDone: Precondition = {
    argv: ['test', '!', '-e', donePath(uid)],
    expect: { exit: 0 },
    ...refuse('FileMadeMeanwhile', { file }),
  };
  const notThere: Precondition = {
    argv: ['test', '!', '-e', file],
    expect: { exit: 0 },
    ...refuse('FileAppeared', { file }),
  };
  // A file system may have been mounted or unmounted since the observation.
  const still = onSameFileSystem(directory);
  return [
    {
      name: 'remove the remains of an interrupted attempt',
      argv: ['rm', '-f', '--', partial],
      preconditions: [notDone, notThere, ...still],
    },
    ...steps.map((step) => ({
      ...step,
      preconditions: [notDone, notThere, ...still, ...step.preconditions],
    })),
    { name: 'sync the file', argv: ['sync', partial], preconditions: [] },
    {
      name: 'rename the file to its final name',
      argv: ['mv', '-T', '--', partial, file],
      preconditions: [notThere, ...still, ...whole],
    },
    { name: "sync the file's directory", argv: ['sync', dirname(file)], preconditions: [] },
  ];
}

/** Returns the step after which the file's content and its size are on disk. */
export function syncFile({ file }: Pick<DesiredSparse, 'file'>): Step[] {
  return [
    {
      name: 'sync the file and its directory',
      argv: ['sync', file, dirname(file)],
      preconditions: [],
    },
  ];
}
