import { printable } from '../lib/output/printable.ts';

/** Figure that is unknown. */
export interface Gap {
  /** Heading of its column. */
  column: string;
  /** Name of the thing that lacks it. */
  name: string;
  why: string;
  /** Tells causes apart whose text varies, such as that of ssh. Default: `why`. */
  cause?: string;
}

/** Number of names in a note, and of notes at a time. */
const NAMES = 3;
const NOTES = 10;
/** Maximum length of a reason: a node may have written it. */
const LENGTH = 400;

/** Returns a function that returns the notes about gaps, each cause only once. */
export function createGapNotes(): (gaps: readonly Gap[]) => string {
  const noted = new Set<string>();
  return (gaps) => {
    const groups = Map.groupBy(gaps, ({ column, why, cause = why }) => `${column}\n${cause}`);
    const fresh = [...groups].filter(([key]) => !noted.has(key));
    for (const [key] of fresh) noted.add(key);
    const lines = fresh.slice(0, NOTES).map(([, group]) => noteOf(group));
    const more = fresh.length - lines.length;
    return [
      ...lines,
      ...(more > 0 ? [`note: ${more} more reasons for missing figures\n`] : []),
    ].join('');
  };
}

function noteOf(group: readonly Gap[]): string {
  const [{ column, why } = { column: '', why: '' }] = group;
  const names = [...new Set(group.map(({ name }) => name))];
  const more = names.length - NAMES;
  const of = `${names.slice(0, NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const reason = why.length > LENGTH ? `${why.slice(0, LENGTH)}…` : why;
  return `note: no ${column} of ${printable(of)}: ${printable(reason).replaceAll(/[\n\t]+/g, ' ')}\n`;
}
