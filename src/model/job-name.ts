import type { JobKey } from '../nodes/job.ts';

/** Purposes of jobs, as in `status.job`; the first two are MetalK8s's names. */
const JOB_KINDS = ['PrepareVolume', 'UnprepareVolume', 'AttachVolume', 'GrowVolume'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Parsed `status.job`: a job that is submitted or about to be, or the last one, done. */
export interface JobName {
  kind: JobKind;
  /** Number of the attempt; undefined for DONE. */
  attempt: number | undefined;
}

const PATTERN =
  /^(PrepareVolume|UnprepareVolume|AttachVolume|GrowVolume)\/(?:([1-9][0-9]{0,8})|DONE)$/;

/** @returns the parsed name; undefined for none, or another program's (a Salt job of MetalK8s) */
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

/** Returns the purpose of a job, including attachment and snapshots; undefined for other keys. */
export function kindOfKey({ id }: JobKey): JobKind | 'DetachVolume' | 'SnapshotVolume' | undefined {
  if (id.startsWith('detach-')) return 'DetachVolume';
  if (id.startsWith('snapshot-')) return 'SnapshotVolume';
  return JOB_KINDS.find((kind) => id.startsWith(`${shortName(kind)}-`));
}

/** Returns the key of a job on the node: the Volume's UID, the operation and the attempt. */
export function jobKey(uid: string, kind: JobKind, attempt: number): JobKey {
  return { subject: uid, id: `${shortName(kind)}-${attempt}` };
}
