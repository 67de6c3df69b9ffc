import type { JobKey } from '../nodes/job.ts';

/** What a job is for, as `status.job` shows it; the first two are MetalK8s's names. */
const JOB_KINDS = ['PrepareVolume', 'UnprepareVolume', 'AttachVolume', 'GrowVolume'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** `status.job`, read: a job that was submitted or is about to be, or the last one, done. */
export interface JobName {
  kind: JobKind;
  /** The attempt; undefined for DONE. */
  attempt: number | undefined;
}

const PATTERN =
  /^(PrepareVolume|UnprepareVolume|AttachVolume|GrowVolume)\/(?:([1-9][0-9]{0,8})|DONE)$/;

/** @returns undefined when there is none, or one that no version of Stowage wrote (a Salt job of MetalK8s) */
export function parseJobName(text: string | undefined): JobName | undefined {
  const match = PATTERN.exec(text ?? '');
  if (match === null) return undefined;
  return {
    kind: match[1] as JobKind,
    attempt: match[2] === undefined ? undefined : Number(match[2]),
  };
}

export const jobName = (kind: JobKind, attempt: number) => `${kind}/${attempt}`;
export const doneName = (kind: JobKind) => `${kind}/DONE`;

const shortName = (kind: JobKind) => kind.replace('Volume', '').toLowerCase();

/** What the job of a key is for, those of attachment and snapshots among them; undefined for any other key. */
export function kindOfKey({ id }: JobKey): JobKind | 'DetachVolume' | 'SnapshotVolume' | undefined {
  if (id.startsWith('detach-')) return 'DetachVolume';
  if (id.startsWith('snapshot-')) return 'SnapshotVolume';
  return JOB_KINDS.find((kind) => id.startsWith(`${shortName(kind)}-`));
}

/** The job on the node: the Volume's UID, the operation, the attempt. */
export function jobKey(uid: string, kind: JobKind, attempt: number): JobKey {
  return { subject: uid, id: `${shortName(kind)}-${attempt}` };
}
