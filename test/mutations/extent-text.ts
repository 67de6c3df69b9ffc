/** A part of a text: offsets of its first character and of the character after its last. */
export interface Extent {
  start: number;
  end: number;
}

/**
 * Returns the shell functions `name() { … }` whose closing brace is indented as their first line.
 */
export function shellFunctions(text: string, name: string, outer: Extent): Extent[] {
  return linesMatching(
    text,
    new RegExp(`^([ \\t]*)${name}\\(\\) \\{`, 'gm'),
    outer,
    (rest, indent) => {
      const end = new RegExp(`^${indent}\\}`, 'm').exec(rest);
      return end === null ? undefined : end.index + end[0].length;
    },
  );
}

/**
 * Returns the Python functions, classes and constants of a name, each up to the next line that is
 * not indented further.
 */
export function pythonDefinitions(text: string, name: string, outer: Extent): Extent[] {
  const first = new RegExp(`^([ \\t]*)(?:(?:def|class) ${name}\\b|${name} = )`, 'gm');
  return linesMatching(text, first, outer, (rest, indent) => {
    // A bracket that closes a long signature or value belongs to the definition.
    const end = new RegExp(`^(?!${indent}[ \\t]|${indent}[)\\]}]|[ \\t]*$)`, 'gm');
    end.lastIndex = rest.indexOf('\n') + 1;
    return end.exec(rest)?.index ?? rest.length;
  });
}

function linesMatching(
  text: string,
  pattern: RegExp,
  outer: Extent,
  lengthOf: (rest: string, indent: string) => number | undefined,
): Extent[] {
  return [...text.matchAll(pattern)].flatMap(({ index, 1: indent = '' }) => {
    if (index < outer.start || index >= outer.end) return [];
    const length = lengthOf(text.slice(index, outer.end), indent);
    return length === undefined ? [] : [{ start: index, end: index + length }];
  });
}
