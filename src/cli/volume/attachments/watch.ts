import { isDeepStrictEqual } from 'node:util';
import type { Volume } from '../../../api/volume.ts';
import type { Clock } from '../../../kube/types.ts';
import type { WatchPrinter } from '../../lib/output/watch-printer.ts';
import { type AttachmentRow, attachmentName, attachmentRows } from './row.ts';

/**
 * Prints the attachments that changed, of Volumes that changed. Shows an attachment once more as
 * Detached when its Volume no longer has it, and as Gone when the Volume is deleted. This also
 * applies to data: the last state would show an existing attachment.
 */
export function byVolume(
  { print, refresh, leave }: WatchPrinter<AttachmentRow>,
  nodes: readonly string[] | undefined,
  clock: Clock,
): WatchPrinter<Volume> {
  const last = new Map<string, readonly AttachmentRow[]>();
  return {
    print(volumes, gone) {
      const ended: AttachmentRow[] = [];
      const changed: AttachmentRow[] = [];
      for (const volume of volumes) {
        const { name } = volume.metadata;
        const before = last.get(name) ?? [];
        const rows = gone ? [] : attachmentRows([volume], nodes);
        last.set(name, rows);
        const state = gone ? 'Gone' : 'Detached';
        ended.push(...without(before, rows).map((row) => endOf(row, state, clock.timeOfDay())));
        changed.push(...rows.filter((row) => !before.some((old) => isDeepStrictEqual(old, row))));
      }
      // A volume that moves is shown as detached before it is shown as attached.
      if (ended.length > 0) print(ended, true);
      if (changed.length > 0) print(changed, false);
    },
    refresh,
    leave,
  };
}

function without(
  rows: readonly AttachmentRow[],
  others: readonly AttachmentRow[],
): AttachmentRow[] {
  const names = new Set(others.map(attachmentName));
  return rows.filter((row) => !names.has(attachmentName(row)));
}

/**
 * Returns the last row of an attachment. `now`, in ms since the epoch, is when its end was
 * observed: the actual time is unknown.
 */
function endOf(
  { volume, node, readOnly }: AttachmentRow,
  state: 'Detached' | 'Gone',
  now: number,
): AttachmentRow {
  const since = new Date(now).toISOString();
  return {
    volume,
    node,
    state,
    pods: [],
    since,
    safeToMount: false,
    safeToDetach: false,
    readOnly,
  };
}
