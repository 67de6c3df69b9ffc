import { refuse } from '../api/reasons.ts';
import type { Precondition } from '../nodes/job.ts';
import { recordSize, writeIntent } from './records.ts';
import type { Intent, ObservedVolume, Plan } from './types.ts';

/**
 * What remains to be written of what somebody else made and is recognised as the Volume's. That it is made comes first:
 * a record of intent alone would allow to make a device anew.
 * @param sizeBytes for how many bytes it is made
 * @param preconditions that it still is what was recognised
 */
export function metalk8sRecords(
  wanted: Intent,
  sizeBytes: bigint,
  { intent, done }: Pick<ObservedVolume, 'intent' | 'done'>,
  preconditions: readonly Precondition[],
): Plan {
  if (!isRecorded(wanted, intent)) {
    const [record, other] = [JSON.stringify(intent), JSON.stringify(wanted)];
    return refuse('AnotherRecordFound', { record, wanted: other });
  }
  const steps = [
    ...(done === undefined ? recordSize(wanted.uid, sizeBytes) : []),
    ...(intent === undefined ? writeIntent(wanted) : []),
  ];
  return {
    steps: steps.map((step) => ({
      ...step,
      preconditions: [...preconditions, ...step.preconditions],
    })),
  };
}

/** Returns whether a record that is there is of a take-over of the same device that was cut off. Its content may have changed since. */
const isRecorded = (wanted: Intent, intent: Intent | undefined): boolean =>
  intent === undefined || JSON.stringify(placeOf(intent)) === JSON.stringify(placeOf(wanted));

const placeOf = ({ uid, file, device, table }: Intent) => [uid, file, device, table];
