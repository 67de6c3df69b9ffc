import { basename } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult, Step } from '../nodes/job.ts';
import { ObservationError, optional } from './probe-results.ts';
import type { DesiredVolume, Intent } from './types.ts';
import { rulePath } from './udev.ts';

/** Where a node keeps what it was asked to do to a disk, beside that disk. */
export const RECORDS = '/var/lib/stowage/volumes';

export const intentPath = (uid: string) => `${RECORDS}/${uid}.intent`;
export const donePath = (uid: string) => `${RECORDS}/${uid}.done`;
const wipedPath = (uid: string) => `${RECORDS}/${uid}.wiped`;
/** Says that a device is not to be filled any more. It goes with the records, once the volume is gone. */
export const cancelPath = (uid: string) => `${RECORDS}/${uid}.cancel`;

/** Has the records of directories: outside of them, so that no record vanishes with a mount. */
export const DIRECTORIES = '/var/lib/stowage/directories';
/** The record of a directory while a Volume's job writes it. It is left where another job was faster, and goes with the Volume's records. */
export const directoryPartial = (uid: string) => `${DIRECTORIES}/${uid}.new`;

/** Reads a Volume's records. */
export function recordProbes(uid: string): Probe[] {
  return [
    { name: 'intent', argv: ['cat', intentPath(uid)] },
    { name: 'done', argv: ['cat', donePath(uid)] },
    { name: 'wiped', argv: ['cat', wipedPath(uid)] },
    // Half-written ones, too.
    { name: 'records', argv: ['find', `${RECORDS}/`, '-maxdepth', '1', '-name', `${uid}.*`] },
  ];
}

export interface Records {
  intent: Intent | undefined;
  done: { sizeBytes: bigint | undefined } | undefined;
  wiped: bigint | undefined;
  recordFiles: boolean;
}

/** @throws ObservationError for a record that can't be read, or that no version of Stowage wrote */
export function readRecords(get: (name: string) => ProbeResult): Records {
  const intent = optional('intent', get('intent'));
  const done = optional('done', get('done'));
  const wiped = optional('wiped', get('wiped'));
  return {
    intent: intent === undefined ? undefined : parseIntent(intent),
    done:
      done === undefined ? undefined : { sizeBytes: /^\d+$/.test(done) ? BigInt(done) : undefined },
    wiped: wiped === undefined ? undefined : parseWiped(wiped),
    recordFiles: (optional('records', get('records')) ?? '') !== '',
  };
}

/** Finds the records that name a Volume: in `once`, or in the path of a logical volume, which has the Volume's name. */
export const earlierProbe = (name: string): Probe => ({
  name: 'earlier',
  argv: ['grep', '-rlF', '-e', name, RECORDS],
});

/** @returns the files' names, without those of `uid`. @throws ObservationError for an answer that leaves it open */
export function readEarlier(uid: string, result: ProbeResult): string[] {
  // As grep says that it found nothing.
  const found =
    result.exit === 1 && result.stderr === '' ? '' : (optional('earlier', result) ?? '');
  const names = found.split('\n').flatMap((path) => (path === '' ? [] : [basename(path)]));
  return names.filter((name) => !name.startsWith(`${uid}.`));
}

const damaged = (record: string, text: string): ObservationError =>
  new ObservationError(
    refuse('RecordDamaged', { record, text: JSON.stringify(text.slice(0, 200)) }),
  );

/** @throws ObservationError for a text that no version of Stowage wrote */
export function parseIntent(text: string): Intent {
  try {
    const value = JSON.parse(text) as Intent;
    const place = value.file ?? value.device?.path;
    const isWhole =
      value.version === 1 && typeof value.uid === 'string' && typeof place === 'string';
    const hasSize = /^\d{1,30}$/.test(value.sizeBytes);
    if (isWhole && (hasSize || (value.file === undefined && value.sizeBytes === undefined)))
      return value;
  } catch {} // Said below.
  throw damaged('an intent record', text);
}

function parseWiped(text: string): bigint {
  if (!/^\d+$/.test(text)) {
    throw damaged('a record of wiping', text);
  }
  return BigInt(text);
}

/** What is the same for every kind: nothing is on it, and nobody's consent is needed. */
export function intentOf(
  desired: DesiredVolume,
  place: Pick<Intent, 'file' | 'device'>,
  sizeBytes: bigint,
): Intent {
  return {
    version: 1,
    uid: desired.uid,
    ...('once' in desired && desired.once === true ? { once: desired.name } : {}),
    ...place,
    sizeBytes: String(sizeBytes),
    fsType: desired.mode === 'Filesystem' ? (desired.fs?.type ?? '') : '',
    signature: 'none',
    consent: 'none',
  };
}

export function writeIntent(intent: Intent): Step[] {
  return [
    makeFolder,
    ...durableFile('intent', intentPath(intent.uid), `${JSON.stringify(intent)}\n`),
    syncFolders,
  ];
}

/**
 * Records that the first write begins, where the preconditions of that write hold. A record of before them would give to this Volume whatever
 * made one of them refuse.
 */
export const beginIntent = (intent: Intent, held: Held): Step[] => [
  ...onlyIf(
    held,
    durableFile(
      'intent',
      intentPath(intent.uid),
      `${JSON.stringify({ ...intent, begun: true })}\n`,
    ),
  ),
  syncRecords,
];

type Held = Pick<Step, 'preconditions' | 'lock'>;

/** The record is put in place only if the preconditions hold. */
const onlyIf = ({ preconditions, lock }: Held, [write, rename]: readonly [Step, Step]): Step[] => [
  write,
  { ...rename, preconditions, ...(lock === undefined ? {} : { lock }) },
];

const makeFolder: Step = {
  name: 'make the folder of records',
  argv: ['install', '-d', '-m', '0700', '/var/lib/stowage', RECORDS],
  preconditions: [],
};

const syncFolders: Step = {
  name: 'sync the folders of records',
  argv: ['sync', RECORDS, '/var/lib/stowage', '/var/lib'],
  preconditions: [],
};

/** `sizeBytes`: how large the volume is made, which tells whether it is to grow. */
export function writeDone(uid: string, sizeBytes: bigint): Step[] {
  return [...durableFile('done', donePath(uid), `${sizeBytes}\n`), syncRecords];
}

/** The same of what was made without records: the node may have no folder of them. */
export const recordSize = (uid: string, sizeBytes: bigint): Step[] => [
  makeFolder,
  ...durableFile('done', donePath(uid), `${sizeBytes}\n`),
  syncFolders,
];

/** Up to where every byte reads zero. `held`: of a write that begins now. */
export function writeWiped(uid: string, upTo: bigint, held: Held = { preconditions: [] }): Step[] {
  return [...onlyIf(held, durableFile('wiped', wipedPath(uid), `${upTo}\n`)), syncRecords];
}

const syncRecords: Step = {
  name: 'sync the folder of records',
  argv: ['sync', RECORDS],
  preconditions: [],
};

/** The file is either whole or not there, also after a power cut: written beside, synced, renamed. */
export function durableFile(
  what: string,
  path: string,
  content: string,
  beside = `${path}.new`,
): [write: Step, rename: Step] {
  return [
    {
      name: `write the record "${what}"`,
      argv: ['dd', `of=${beside}`, 'conv=fsync', 'status=none'],
      stdin: content,
      preconditions: [],
    },
    {
      name: `put the record "${what}" in place`,
      argv: ['mv', '-T', beside, path],
      preconditions: [],
    },
  ];
}

/** Without it, what is on record as done stays so. */
export const removeIntent = (uid: string): Step[] => [
  {
    name: 'remove the record "intent"',
    argv: ['rm', '-f', intentPath(uid), `${intentPath(uid)}.new`],
    preconditions: [],
  },
  syncRecords,
];

export function removeRecords(uid: string): Step[] {
  const paths = [donePath(uid), intentPath(uid), wipedPath(uid)].flatMap((path) => [
    path,
    `${path}.new`,
  ]);
  const argv = ['rm', '-f', ...paths, cancelPath(uid), directoryPartial(uid), rulePath(uid)];
  return [{ name: 'remove the records', argv, preconditions: [] }, syncRecords];
}
