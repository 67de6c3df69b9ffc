import type { FsType } from '../api/file-systems.ts';
import { type Reason, refuse } from '../api/reasons.ts';
import type { Precondition, Step } from '../nodes/job.ts';
import { donePath, intentOf, intentPath, removeRecords } from './records.ts';
import { scriptArgv } from './scripts/scripts.ts';
import type { DesiredVolume, Intent, ObservedVolume, Refusal } from './types.ts';

/**
 * The step that gives a file system a UUID, for an adoption or to take one back. Its preconditions, and the lock on a device, are the
 * caller's.
 * @param owner the UID of the Volume that adopts it
 */
export const giveUuid = (
  type: FsType,
  { uid, owner, path }: { uid: string; owner: string; path: string },
  preconditions: readonly Precondition[],
): Step => ({
  name: `give the ${type} file system ${uid === owner ? "the Volume's UUID" : 'its earlier UUID'}`,
  argv: scriptArgv('stowage-adopt', path, uid, type, owner),
  preconditions,
});

/** The record of an adoption: it keeps what the storage was called before anything of that is changed. */
export const adoptionOf = (
  desired: DesiredVolume,
  from: string,
  place: Pick<Intent, 'file' | 'device'>,
  { sizeBytes, fsType, signature }: { sizeBytes: bigint; fsType: string; signature: string },
): Intent => ({ ...intentOf(desired, place, sizeBytes), fsType, signature, adopt: from });

/** The UID that what is to be adopted has yet; undefined where nothing is, or it was. */
export const adoptsFrom = (
  { adopt, recorded }: Pick<DesiredVolume, 'adopt' | 'recorded'>,
  { done }: Pick<ObservedVolume, 'done'>,
): string | undefined => (recorded || done !== undefined ? undefined : adopt);

/** The UID of an adoption that was begun on the node and not ended; undefined where there is none. */
export const halfAdopted = (
  { recorded }: Pick<DesiredVolume, 'recorded'>,
  { intent, done }: Pick<ObservedVolume, 'intent' | 'done'>,
): string | undefined => (recorded || done !== undefined ? undefined : intent?.adopt);

/** A job may reach the node late: what is adopted may be in use by then. */
export const notAdopted = ({ uid, name }: Pick<DesiredVolume, 'uid' | 'name'>): Precondition => ({
  argv: ['test', '!', '-e', donePath(uid)],
  expect: { exit: 0 },
  ...refuse('AdoptedMeanwhile', { volume: name }),
});

/** Removes the node's records of the earlier Volume, by which its device would be another's. */
export const forgetEarlier = (from: string): Step[] =>
  removeRecords(from).map((step) => ({ ...step, name: `${step.name} of the earlier Volume` }));

/** A record of another adoption than the one that is wanted. */
export const otherAdoption = (from: string, { intent }: Pick<ObservedVolume, 'intent'>) =>
  intent === undefined || intent.adopt === from
    ? undefined
    : refuse('AnotherAdoptionRecorded', { record: JSON.stringify(intent), uid: from });

/**
 * Refuses to forget an adoption that has not come to its end while its storage is away: without the records nobody would know
 * what half of it was done, nor find what has neither name.
 * @param what is not there, and its reason
 */
export const putBackAway = (
  { uid, name }: Pick<DesiredVolume, 'uid' | 'name'>,
  what: string,
  reason?: Reason,
): Refusal => ({
  refusal: `an adoption that was begun is to be taken back, and ${what}`,
  hint: `Bring it back, and it gets the UID that it had. If it is gone for good, end the record of it on the node: rm ${intentPath(uid)}. If the node is gone, too: stowage delete volume ${name} --forget-node`,
  ...(reason && { reason }),
  retryable: true,
});
