import { type Observed, observeRepeatedly } from '../lib/get/observe-repeatedly.ts';
import type { GetFlags, GetRequest } from '../lib/get/resource-view.ts';
import { createGapNotes, type Gap } from './gaps.ts';

/** Time (ms) between observations. A kubelet measures file systems about once per minute. */
const OBSERVE_EVERY = 30_000;

/** Observes and shows things, once or repeatedly. Notes each reason of unknown figures once. */
export async function showRows<T, F extends GetFlags>(
  plural: string,
  { flags, io, show, ...request }: Pick<GetRequest<T, F>, 'flags' | 'io' | 'show' | 'printer'>,
  observe: () => Promise<Observed<T> & { gaps: Gap[] }>,
): Promise<void> {
  const notesOf = createGapNotes();
  const printer = flags.watch ? request.printer() : undefined;
  const observeAndNote = async () => {
    const { gaps, ...observed } = await observe();
    const notes = notesOf(gaps);
    if (notes !== '') {
      printer?.leave();
      io.stderr.write(notes);
    }
    return observed;
  };
  if (printer !== undefined)
    return observeRepeatedly(plural, OBSERVE_EVERY, observeAndNote, printer, io);
  const { rows, errors } = await observeAndNote();
  show(rows, errors);
}
