import { dirname } from 'node:path';
import type { Step } from '../nodes/job.ts';
import { donePath, writeDone, writeIntent } from './records.ts';
import { partialOf } from './sparse-observe.ts';
import type { Desired, Observed, Plan, Signature } from './types.ts';

/**
 * What remains to be done until the file is there with its file system and recorded as done.
 *
 * The file is made beside its name and renamed when it is whole and on disk: under its own name there never is
 * half a file, and what is under the other name is ours to do again, as the intent record says.
 */
export function planPrepare(desired: Desired, observed: Observed): Plan {
  const { file } = desired;
  if (desired.recorded || observed.done) {
    return observed.file.type === 'missing'
      ? {
          refusal: `the backing file ${file} was made before and is missing now`,
          hint: 'Bring the file back, or delete the Volume if its data is given up. Nothing is made anew in its place.',
        }
      : checkContent(desired, observed);
  }
  if (
    observed.intent !== undefined &&
    (observed.intent.uid !== desired.uid || observed.intent.file !== file)
  ) {
    return {
      refusal: `the node records for this Volume the file ${observed.intent.file}, not ${file}`,
      hint: 'Delete this Volume and create it again.',
    };
  }
  if (observed.intent === undefined) {
    for (const [path, facts] of [
      [file, observed.file],
      [partialOf(file), observed.partial],
    ] as const) {
      if (facts.type !== 'missing') {
        return {
          refusal: `${path} is there already, and nothing on the node says that Stowage made it`,
          hint: 'Look at what it is. Move it away if it is not needed; the Volume is tried again when its spec changes or it is created anew.',
        };
      }
    }
    return {
      steps: [...makeFolder(desired), ...writeIntent(desired), ...makeFile(desired), ...writeDone(desired)],
    };
  }
  if (observed.file.type === 'missing') {
    return { steps: [...makeFolder(desired), ...makeFile(desired), ...writeDone(desired)] };
  }
  const content = checkContent(desired, observed);
  return 'refusal' in content ? content : { steps: [...syncFile(desired), ...writeDone(desired)] };
}

/** The file must be a plain file that holds our file system and no other; then nothing remains to be done to it. */
export function checkContent(desired: Desired, observed: Observed): Plan {
  const { file, uid, fsType } = desired;
  const { signature } = observed;
  if (observed.file.type !== 'file') {
    return { refusal: `${file} is not a plain file`, hint: 'Look at what took its place on the node.' };
  }
  if (signature.found === 'one' && signature.type === fsType && signature.uuid === uid) {
    return { steps: [] };
  }
  return {
    refusal: `${file} should hold the ${fsType} file system ${uid}, but ${describe(signature)} was found`,
    hint: 'The file was replaced or damaged. It is left as it is.',
  };
}

function describe(signature: Signature): string {
  switch (signature.found) {
    case 'none':
      return 'nothing';
    case 'ambivalent':
      return 'more than one signature';
    case 'one':
      return `${signature.type}${signature.uuid === undefined ? '' : ` ${signature.uuid}`}`;
  }
}

function makeFolder(desired: Desired): Step[] {
  const folder = dirname(desired.file);
  return [
    { name: `make the folder ${folder}`, argv: ['mkdir', '-p', '-m', '0700', '--', folder], guards: [] },
  ];
}

function makeFile(desired: Desired): Step[] {
  const { file, uid } = desired;
  const partial = partialOf(file);
  // A job may reach the node late, after another one, or after all was lost again: what is done is not made anew.
  const notDone = {
    argv: ['test', '!', '-e', donePath(uid)],
    expect: { exit: 0 },
    refusal: `${file} was made meanwhile`,
  };
  const notThere = {
    argv: ['test', '!', '-e', file],
    expect: { exit: 0 },
    refusal: `${file} came into being meanwhile`,
  };
  return [
    {
      name: 'remove what an interrupted try left',
      argv: ['rm', '-f', '--', partial],
      guards: [notDone, notThere],
    },
    {
      name: `make a sparse file of ${desired.sizeBytes} bytes`,
      argv: ['truncate', '-s', String(desired.sizeBytes), '--', partial],
      guards: [],
    },
    {
      name: `make the ${desired.fsType} file system`,
      argv: ['mkfs.ext4', '-q', '-F', ...desired.mkfsOptions, '-U', uid, partial],
      guards: [
        notDone,
        notThere,
        {
          argv: ['blkid', '-p', partial],
          expect: { exit: 2 },
          refusal: `something is in ${partial} that was not when it was looked at`,
        },
      ],
    },
    { name: 'sync the file', argv: ['sync', partial], guards: [] },
    { name: 'give the file its name', argv: ['mv', '-T', '--', partial, file], guards: [notThere] },
    { name: "sync the file's folder", argv: ['sync', dirname(file)], guards: [] },
  ];
}

function syncFile(desired: Desired): Step[] {
  return [
    { name: 'sync the file and its folder', argv: ['sync', desired.file, dirname(desired.file)], guards: [] },
  ];
}
