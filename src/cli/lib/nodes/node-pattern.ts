import { InvalidArgumentError } from 'commander';
import { objectName } from '../parse.ts';

/** Maximum number of nodes. More are a mistake. */
const MOST = 1000;
const RANGE = /^([0-9]{1,9})\.\.([0-9]{1,9})$/;

/** Nodes as named by `--node`. */
export interface Nodes {
  names: string[];
  /** True if objects on the nodes are named after them, also for a pattern that yields one node. */
  many: boolean;
}

/**
 * Parses `a,b`, also given several times, with patterns of a shell: `n{1..4}`, `n{01..12}`,
 * `n{a,b}`.
 */
export function nodes(text: string, before?: Nodes): Nodes {
  const names = new Set(before?.names);
  // Commas within braces belong to the pattern.
  for (const name of text.split(/,(?![^{]*\})/).flatMap(expand)) names.add(objectName(name));
  if (names.size > MOST) throw new InvalidArgumentError(`These are more than ${MOST} nodes.`);
  return { names: [...names], many: names.size > 1 || text.includes('{') || before?.many === true };
}

/** Returns only the names, for options where the number of nodes makes no difference. */
export const nodeNames = (text: string, before: string[] = []): string[] =>
  nodes(text, { names: before, many: false }).names;

function expand(text: string): string[] {
  // Text from within braces is at odd places.
  return text.split(/\{([^{}]*)\}/).reduce<string[]>(
    (starts, part, index) => {
      const ends = index % 2 === 0 ? [part] : choices(part);
      if (starts.length * ends.length > MOST) {
        throw new InvalidArgumentError(`These are more than ${MOST} nodes.`);
      }
      return starts.flatMap((start) => ends.map((end) => start + end));
    },
    [''],
  );
}

/** Returns the texts that braces stand for: a range, zero-padded if a bound is, or a list. */
function choices(inside: string): string[] {
  const [, from = '', to = ''] = RANGE.exec(inside) ?? [];
  if (from !== '') {
    const count = Number(to) - Number(from) + 1;
    if (count < 1)
      throw new InvalidArgumentError(`{${inside}} counts down: write the lower bound first.`);
    if (count > MOST) throw new InvalidArgumentError(`These are more than ${MOST} nodes.`);
    const padded = [from, to].some((bound) => bound.length > 1 && bound.startsWith('0'));
    const width = padded ? Math.max(from.length, to.length) : 0;
    return Array.from({ length: count }, (_, index) =>
      String(Number(from) + index).padStart(width, '0'),
    );
  }
  if (inside.includes(',')) return inside.split(',');
  throw new InvalidArgumentError('Write a range as n{1..4}, a list as n{a,b}.');
}
