import { age } from '../../api/age.ts';
import type { Shown } from '../output/watch-printer.ts';
import { type AttachmentRow, attachmentName } from './row.ts';

/** `now` is in ms since the epoch. */
type Column = [heading: string, value: (row: AttachmentRow, now: number) => string | undefined];

const yes = (is: boolean) => (is ? 'yes' : 'no');

const COLUMNS: readonly Column[] = [
  ['VOLUME', ({ volume }) => volume],
  ['NODE', ({ node }) => node],
  ['STATE', ({ state }) => state],
  ['PODS', ({ pods }) => pods.join(',')],
  ['SINCE', ({ since }, now) => age(since, now)],
];

const WIDE: readonly Column[] = [
  ['SAFE-TO-MOUNT', ({ safeToMount }) => yes(safeToMount)],
  ['SAFE-TO-DETACH', ({ safeToDetach }) => yes(safeToDetach)],
  ['READ-ONLY', ({ readOnly }) => yes(readOnly)],
  ['DEVICE', ({ device }) => device],
  ['MESSAGE', ({ message }) => message],
];

const columnsOf = (wide: boolean) => (wide ? [...COLUMNS, ...WIDE] : COLUMNS);

export const AS_ROWS: Shown<AttachmentRow> = {
  keyOf: attachmentName,
  nameOf: attachmentName,
  headings: (wide) => columnsOf(wide).map(([heading]) => heading),
  row: (attachment, wide, now) => columnsOf(wide).map(([, value]) => value(attachment, now)),
};
