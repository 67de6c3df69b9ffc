import type { VolumeSnapshot } from '../../../api/snapshot.ts';

/** Returns the phase of a snapshot. Failed may not be final: nothing marks the last attempt. */
export function phaseOf({
  metadata,
  status,
}: VolumeSnapshot): 'Terminating' | 'Ready' | 'Failed' | 'Pending' {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (status?.readyToUse === true) return 'Ready';
  return status?.error === undefined ? 'Pending' : 'Failed';
}

export function sourceText({ spec: { source } }: VolumeSnapshot): string {
  return source.persistentVolumeClaimName ?? `content ${source.volumeSnapshotContentName ?? ''}`;
}

/** Returns the phase of a snapshot and the reason, in one line. */
export function progressOf(snapshot: VolumeSnapshot): string {
  const { error, boundVolumeSnapshotContentName: content } = snapshot.status ?? {};
  const phase = phaseOf(snapshot);
  if (phase === 'Ready') return phase;
  const what = content ? `content ${content}` : 'no content yet';
  return error?.message ? `${phase}, ${what}: ${error.message}` : `${phase}, ${what}`;
}
