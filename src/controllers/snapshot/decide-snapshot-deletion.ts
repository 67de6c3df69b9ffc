import { DRIVER, SNAPSHOT_EVENT, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { contentNameOf, refersTo } from '../lib/snapshot-content.ts';
import { setFields, shownOf } from './status.ts';
import type { Decision, SnapshotAction, SnapshotInput } from './types.ts';

/**
 * Decides about a VolumeSnapshot that is being deleted. Policy Delete deletes the content first;
 * the finalizers go once it is gone. Restores in progress delay both. Pure.
 */
export function decideSnapshotDeletion(
  input: SnapshotInput,
  now: number,
): Decision<SnapshotAction> {
  const { snapshot, restores } = input;
  const { metadata, status } = snapshot;
  const { asSource, bound } = SNAPSHOT_FINALIZERS;
  const ours = [asSource, bound].filter((each) => metadata.finalizers?.includes(each));
  if (ours.length === 0) return {};
  const name = contentNameOf(snapshot);
  // The cache may lack a content that an earlier process created.
  if (name !== undefined && input.liveContent === undefined)
    return { action: { do: 'read-content', name } };
  const found = input.liveContent?.found;
  if (found !== undefined && found.spec.driver !== DRIVER) return {};
  const content = found !== undefined && refersTo(found, snapshot) ? found : undefined;

  const [restored] = restores;
  if (restored !== undefined && content !== undefined) {
    const why = explain('SnapshotBeingRestored', { volume: restored.metadata.name });
    return pending(input, now, why);
  }
  // No restore needs the source finalizer; the bound finalizer still holds the snapshot.
  if (content !== undefined && ours.length > 1) return takeOff([asSource]);
  if (content?.spec.deletionPolicy === 'Delete') {
    if (content.metadata.deletionTimestamp === undefined)
      return { action: { do: 'delete-content', content } };
    const { error } = shownOf(content);
    const action = error && setFields(status, { error });
    return action ? { action } : {};
  }
  return takeOff(ours);
}

const takeOff = (finalizers: readonly string[]): Decision<SnapshotAction> => ({
  action: { do: 'take-off-finalizers', finalizers },
});

function pending(
  { snapshot }: SnapshotInput,
  now: number,
  { message, detail }: Explanation,
): Decision<SnapshotAction> {
  // The snapshot stays ready: the error only explains why its deletion waits.
  if (snapshot.status?.error?.message === message) return {};
  const error = { message, time: new Date(now).toISOString() };
  const { deletePending: reason } = SNAPSHOT_EVENT;
  const event = { type: 'Warning', reason, message, detail } as const;
  return { action: { do: 'set-status', fields: { error }, event } };
}
