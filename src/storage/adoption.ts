import type { FsType } from '../api/file-systems.ts';
import { type Reason, refuse } from '../api/reasons.ts';
import type { Precondition, Step } from '../nodes/job.ts';
import { donePath, intentOf, intentPath, removeRecords } from './records.ts';
import { scriptArgv } from './scripts/scripts.ts';
import type { DesiredVolume, Intent, ObservedVolume, Refusal } from './types.ts';

/**
 * Returns a step that sets the UUID of a file system, for an adoption or its rollback. The caller
 * adds the device lock.
 * @param owner UID of the adopting Volume
 */
export const giveUuid = (
  type: FsType,
  { uid, owner, path }: { uid: string; owner: string; path: string },
  preconditions: readonly Precondition[],
): Step => ({
  name: `${uid === owner ? 'set' : 'restore'} the UUID of the ${type} file system`,
  argv: scriptArgv('stowage-adopt', path, uid, type, owner),
  preconditions,
});

/**
 * Returns the intent record of an adoption. It keeps the earlier UID and signature of the storage,
 * and is written before any of them changes.
 */
export const adoptionOf = (
  desired: DesiredVolume,
  from: string,
  place: Pick<Intent, 'file' | 'device'>,
  { sizeBytes, fsType, signature }: { sizeBytes: bigint; fsType: string; signature: string },
): Intent => ({ ...intentOf(desired, place, sizeBytes), fsType, signature, adopt: from });

/** Returns the earlier UID of the storage while its adoption is incomplete; undefined otherwise. */
export const adoptsFrom = (
  { adopt, recorded }: Pick<DesiredVolume, 'adopt' | 'recorded'>,
  { done }: Pick<ObservedVolume, 'done'>,
): string | undefined => (recorded || done !== undefined ? undefined : adopt);

/**
 * Returns the earlier UID of an adoption that the node began and did not finish; undefined if there
 * is none.
 */
export const halfAdopted = (
  { recorded }: Pick<DesiredVolume, 'recorded'>,
  { intent, done }: Pick<ObservedVolume, 'intent' | 'done'>,
): string | undefined => (recorded || done !== undefined ? undefined : intent?.adopt);

/** Requires that no `done` record exists: a delayed job could find the storage in use. */
export const notAdopted = ({ uid, name }: Pick<DesiredVolume, 'uid' | 'name'>): Precondition => ({
  argv: ['test', '!', '-e', donePath(uid)],
  expect: { exit: 0 },
  ...refuse('AdoptedMeanwhile', { volume: name }),
});

/**
 * Returns steps that remove the earlier Volume's records from the node. With them, the device would
 * still belong to that Volume.
 */
export const forgetEarlier = (from: string): Step[] =>
  removeRecords(from).map((step) => ({ ...step, name: `${step.name} of the earlier Volume` }));

/** Refuses if the node has an intent record other than that of this adoption. */
export const otherAdoption = (from: string, { intent }: Pick<ObservedVolume, 'intent'>) =>
  intent === undefined || intent.adopt === from
    ? undefined
    : refuse('AnotherAdoptionRecorded', { record: JSON.stringify(intent), uid: from });

/**
 * Refuses to delete the records of an unfinished adoption while its storage is absent. Only they
 * show its progress, and identify a file that has neither Volume's name.
 * @param what clause of the message that describes the absence
 * @param reason of that absence
 */
export const putBackAway = (
  { uid, name }: Pick<DesiredVolume, 'uid' | 'name'>,
  what: string,
  reason?: Reason,
): Refusal => ({
  refusal: `the unfinished adoption cannot be rolled back: ${what}`,
  hint: `Bring the storage back: it then gets its earlier UID. If it is lost, remove its record on the node: rm ${intentPath(uid)}. If the node is lost, too: stowage delete volume ${name} --forget-node`,
  ...(reason && { reason }),
  retryable: true,
});
