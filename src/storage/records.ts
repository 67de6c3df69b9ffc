import type { Step } from '../nodes/job.ts';
import type { Desired, Intent } from './types.ts';

/** Where a node keeps what it was asked to do to a disk, beside that disk. */
const RECORDS = '/var/lib/stowage/volumes';

/** Lists the files of a Volume's records, half-written ones included. */
export const findRecords = (uid: string) => ['find', RECORDS, '-maxdepth', '1', '-name', `${uid}.*`];

export const intentPath = (uid: string) => `${RECORDS}/${uid}.intent`;
export const donePath = (uid: string) => `${RECORDS}/${uid}.done`;

export function intentOf(desired: Desired): Intent {
  return {
    version: 1,
    uid: desired.uid,
    file: desired.file,
    sizeBytes: String(desired.sizeBytes),
    fsType: desired.fsType,
    signature: 'none',
    consent: 'none',
  };
}

/** @returns undefined for a text that no version of Stowage wrote */
export function parseIntent(text: string): Intent | undefined {
  try {
    const value = JSON.parse(text) as Intent;
    return value.version === 1 && typeof value.uid === 'string' && typeof value.file === 'string'
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeIntent(desired: Desired): Step[] {
  return [
    {
      name: 'make the folder of records',
      argv: ['install', '-d', '-m', '0700', '/var/lib/stowage', RECORDS],
      guards: [],
    },
    ...durableFile('intent', intentPath(desired.uid), `${JSON.stringify(intentOf(desired))}\n`),
    {
      name: 'sync the folders of records',
      argv: ['sync', RECORDS, '/var/lib/stowage', '/var/lib'],
      guards: [],
    },
  ];
}

export function writeDone(desired: Desired): Step[] {
  return [
    ...durableFile('done', donePath(desired.uid), 'done\n'),
    { name: 'sync the folder of records', argv: ['sync', RECORDS], guards: [] },
  ];
}

/** The file is either whole or not there, also after a power cut: written beside, synced, renamed. */
function durableFile(what: string, path: string, content: string): Step[] {
  return [
    {
      name: `write the record "${what}"`,
      argv: ['dd', `of=${path}.new`, 'conv=fsync', 'status=none'],
      stdin: content,
      guards: [],
    },
    { name: `put the record "${what}" in place`, argv: ['mv', '-T', `${path}.new`, path], guards: [] },
  ];
}

export function removeRecords(uid: string): Step[] {
  const paths = [donePath(uid), `${donePath(uid)}.new`, intentPath(uid), `${intentPath(uid)}.new`];
  return [
    { name: 'remove the records', argv: ['rm', '-f', ...paths], guards: [] },
    { name: 'sync the folder of records', argv: ['sync', RECORDS], guards: [] },
  ];
}
