import { basename } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult, Step } from '../nodes/job.ts';
import { ObservationError, optional } from './probe-results.ts';
import type { DesiredVolume, Intent } from './types.ts';
import { rulePath } from './udev.ts';

/** Directory in which a node records operations on disks, apart from those disks. */
export const RECORDS = '/var/lib/stowage/volumes';

export const intentPath = (uid: string) => `${RECORDS}/${uid}.intent`;
export const donePath = (uid: string) => `${RECORDS}/${uid}.done`;
const wipedPath = (uid: string) => `${RECORDS}/${uid}.wiped`;
/**
 * Returns the path of the file that cancels the population of a device. It is removed with the
 * records, once the volume is gone.
 */
export const cancelPath = (uid: string) => `${RECORDS}/${uid}.cancel`;

/**
 * Directory of the records of directories, outside of them, so that no record vanishes with a
 * mount.
 */
export const DIRECTORIES = '/var/lib/stowage/directories';
/**
 * Returns the path of a directory's record while a Volume's job writes it. The file stays if
 * another job was faster, and is removed with the Volume's records.
 */
export const directoryPartial = (uid: string) => `${DIRECTORIES}/${uid}.new`;

/** Returns probes of a Volume's records. */
export function recordProbes(uid: string): Probe[] {
  return [
    { name: 'intent', argv: ['cat', intentPath(uid)] },
    { name: 'done', argv: ['cat', donePath(uid)] },
    { name: 'wiped', argv: ['cat', wipedPath(uid)] },
    // Includes half-written records.
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

/**
 * Returns a probe of records that name a Volume: in `once`, or in the path of a logical volume,
 * which has the Volume's name.
 */
export const earlierProbe = (name: string): Probe => ({
  name: 'earlier',
  argv: ['grep', '-rlF', '-e', name, RECORDS],
});

/**
 * Returns the names of the record files, without those of `uid`.
 * @throws ObservationError for an inconclusive answer
 */
export function readEarlier(uid: string, result: ProbeResult): string[] {
  // grep exits 1 without a message if it finds nothing.
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
  } catch {} // Thrown below.
  throw damaged('an intent record', text);
}

function parseWiped(text: string): bigint {
  if (!/^\d+$/.test(text)) {
    throw damaged('a record of wiping', text);
  }
  return BigInt(text);
}

/**
 * Returns the intent that is the same for every kind: for empty storage, which needs no consent.
 */
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
    makeDirectory,
    ...durableFile('intent', intentPath(intent.uid), `${JSON.stringify(intent)}\n`),
    syncDirectories,
  ];
}

/**
 * Returns steps that record the start of the first write, if the preconditions of that write hold.
 * An earlier record would attribute to this Volume the content that made one of them fail.
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

/** Adds the preconditions to the rename: the record is put in place only if they hold. */
const onlyIf = ({ preconditions, lock }: Held, [write, rename]: readonly [Step, Step]): Step[] => [
  write,
  { ...rename, preconditions, ...(lock === undefined ? {} : { lock }) },
];

const makeDirectory: Step = {
  name: 'create the directory of records',
  argv: ['install', '-d', '-m', '0700', '/var/lib/stowage', RECORDS],
  preconditions: [],
};

const syncDirectories: Step = {
  name: 'sync the directories of records',
  argv: ['sync', RECORDS, '/var/lib/stowage', '/var/lib'],
  preconditions: [],
};

/**
 * Returns steps that record a volume as done. `sizeBytes`: its size, which shows whether it must
 * grow later.
 */
export function writeDone(uid: string, sizeBytes: bigint): Step[] {
  return [...durableFile('done', donePath(uid), `${sizeBytes}\n`), syncRecords];
}

/** Returns the same steps for storage made without records, whose node may lack their directory. */
export const recordSize = (uid: string, sizeBytes: bigint): Step[] => [
  makeDirectory,
  ...durableFile('done', donePath(uid), `${sizeBytes}\n`),
  syncDirectories,
];

/**
 * Returns steps that record the offset up to which every byte reads zero. `held`: preconditions and
 * lock of a write that begins now.
 */
export function writeWiped(uid: string, upTo: bigint, held: Held = { preconditions: [] }): Step[] {
  return [...onlyIf(held, durableFile('wiped', wipedPath(uid), `${upTo}\n`)), syncRecords];
}

const syncRecords: Step = {
  name: 'sync the directory of records',
  argv: ['sync', RECORDS],
  preconditions: [],
};

/**
 * Returns steps that write a file atomically, also across a power cut: it is written beside,
 * synced, then renamed.
 */
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

/** Returns steps that remove the intent. A `done` record stays valid without it. */
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
