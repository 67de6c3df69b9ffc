import type { VolumeSnapshot } from '../../../api/snapshot.ts';

/** Where a snapshot is, in one word. An error may be gone by the next try: nothing says that it is the last. */
export function phaseOf({
  metadata,
  status,
}: VolumeSnapshot): 'Terminating' | 'Ready' | 'Failed' | 'Pending' {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (status?.readyToUse === true) return 'Ready';
  return status?.error === undefined ? 'Pending' : 'Failed';
}

/** What it is of. */
export function sourceText({ spec: { source } }: VolumeSnapshot): string {
  return source.persistentVolumeClaimName ?? `content ${source.volumeSnapshotContentName ?? ''}`;
}

/** Where it is and why, in one line. */
export function progressOf(snapshot: VolumeSnapshot): string {
  const { error, boundVolumeSnapshotContentName: content } = snapshot.status ?? {};
  const phase = phaseOf(snapshot);
  if (phase === 'Ready') return phase;
  const what = content ? `content ${content}` : 'no content yet';
  return error?.message ? `${phase}, ${what}: ${error.message}` : `${phase}, ${what}`;
}
