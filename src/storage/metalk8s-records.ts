import { refuse } from '../api/reasons.ts';
import type { Precondition } from '../nodes/job.ts';
import { recordSize, writeIntent } from './records.ts';
import type { Intent, ObservedVolume, Plan } from './types.ts';

/**
 * Plans the missing records of storage that another program made and that is recognized as the
 * Volume's. `done` comes first: a record of intent alone would permit to make the device again.
 * @param sizeBytes size that the storage was made for
 * @param preconditions that the storage is still the recognized one
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

/**
 * Reports whether an existing record is that of an interrupted takeover of the same device, or
 * there is none. The content may have changed since.
 */
const isRecorded = (wanted: Intent, intent: Intent | undefined): boolean =>
  intent === undefined || JSON.stringify(placeOf(intent)) === JSON.stringify(placeOf(wanted));

const placeOf = ({ uid, file, device, table }: Intent) => [uid, file, device, table];
