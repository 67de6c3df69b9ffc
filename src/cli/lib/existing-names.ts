/** Maximum number of names listed. */
const SHOWN = 5;

/** Returns the part of a sentence that lists existing names; empty if there are none. Pure. */
export function existingNames(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `existing: ${names.toSorted().slice(0, SHOWN).join(', ')}${more}`;
}
