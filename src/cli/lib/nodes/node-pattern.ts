import { InvalidArgumentError } from 'commander';
import { objectName } from '../parse.ts';

/** More at once is a mistake. */
const MOST = 1000;
const RANGE = /^([0-9]{1,9})\.\.([0-9]{1,9})$/;

/** Nodes, as `--node` names them. */
export interface Nodes {
  names: string[];
  /** Whether the objects on them are named after them: also for a pattern that stands for one node. */
  many: boolean;
}

/** `a,b`, given several times, also with patterns as a shell expands them: `n{1..4}`, `n{01..12}`, `n{a,b}`. */
export function nodes(text: string, before?: Nodes): Nodes {
  const names = new Set(before?.names);
  // Commas within braces are the pattern's.
  for (const name of text.split(/,(?![^{]*\})/).flatMap(expand)) names.add(objectName(name));
  if (names.size > MOST) throw new InvalidArgumentError(`They are more than ${MOST} nodes.`);
  return { names: [...names], many: names.size > 1 || text.includes('{') || before?.many === true };
}

/** Their names only, where it makes no difference whether there are several. */
export const nodeNames = (text: string, before: string[] = []): string[] =>
  nodes(text, { names: before, many: false }).names;

function expand(text: string): string[] {
  // What is in braces is at odd places.
  return text.split(/\{([^{}]*)\}/).reduce<string[]>(
    (starts, part, index) => {
      const ends = index % 2 === 0 ? [part] : choices(part);
      if (starts.length * ends.length > MOST) {
        throw new InvalidArgumentError(`They are more than ${MOST} nodes.`);
      }
      return starts.flatMap((start) => ends.map((end) => start + end));
    },
    [''],
  );
}

/** What braces stand for: a range, padded with zeroes where a bound is, or a list. */
function choices(inside: string): string[] {
  const [, from = '', to = ''] = RANGE.exec(inside) ?? [];
  if (from !== '') {
    const count = Number(to) - Number(from) + 1;
    if (count < 1) throw new InvalidArgumentError(`{${inside}} counts down.`);
    if (count > MOST) throw new InvalidArgumentError(`They are more than ${MOST} nodes.`);
    const padded = [from, to].some((bound) => bound.length > 1 && bound.startsWith('0'));
    const width = padded ? Math.max(from.length, to.length) : 0;
    return Array.from({ length: count }, (_, index) =>
      String(Number(from) + index).padStart(width, '0'),
    );
  }
  if (inside.includes(',')) return inside.split(',');
  throw new InvalidArgumentError('Write a range as n{1..4}, a list as n{a,b}.');
}
