import { fields } from '../../lib/output/fields.ts';
import { blockerData } from '../print.ts';
import { blockerLines, linkText } from '../text.ts';
import type { Group } from './groups.ts';

/** Maximum number of objects in text. */
const MOST_NAMES = 20;

/** Returns a group as data, as docs/output.md describes it. Pure. */
export const groupData = ({ blocker, root, objects }: Group): object => ({
  ...blockerData(blocker),
  root,
  objects: objects.map(({ kind, namespace, name, phase }) => ({
    kind,
    ...(namespace !== undefined && { namespace }),
    name,
    phase,
  })),
});

/** Returns a group as text. `now` is in ms since the epoch. Pure. */
export function groupText({ blocker, root, objects }: Group, now: number): string {
  const names = objects.slice(0, MOST_NAMES).map(linkText);
  const more = objects.length - names.length;
  const { chain: _, ...own } = blocker;
  return fields([
    ['Cause', `${blocker.cause} (${linkText(root)})`],
    ...blockerLines(own, now),
    ['Objects', [...names, ...(more > 0 ? [`and ${more} more`] : [])]],
  ]);
}
