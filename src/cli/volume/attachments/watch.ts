import { isDeepStrictEqual } from 'node:util';
import type { Volume } from '../../../api/volume.ts';
import type { Clock } from '../../../kube/types.ts';
import type { WatchPrinter } from '../../lib/output/watch-printer.ts';
import { type AttachmentRow, attachmentName, attachmentRows } from './row.ts';

/**
 * Prints of Volumes that changed the attachments that changed. One that a Volume has no more is shown once more as
 * Detached, and those of a Volume that is gone as Gone, also as data: its last state would say that it is there.
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
        ended.push(...without(before, rows).map((row) => endOf(row, state, clock.now())));
        changed.push(...rows.filter((row) => !before.some((old) => isDeepStrictEqual(old, row))));
      }
      // A volume that moves is first seen to go.
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

/** When it ended nobody says; `now`, in ms since the epoch, is when that was seen. */
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
