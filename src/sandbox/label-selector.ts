import { badRequest } from './refusal.ts';

/** A requirement of labels. */
export interface Requirement {
  key: string;
  operator: 'exists' | 'absent' | 'in' | 'notin' | 'gt' | 'lt';
  values: string[];
}

const OPERATORS: Record<string, Requirement['operator']> = {
  in: 'in',
  notin: 'notin',
  '=': 'in',
  '==': 'in',
  '!=': 'notin',
  '>': 'gt',
  '<': 'lt',
};
const EXPECTED = 'in, notin, =, ==, !=, gt, lt';
const SYMBOLS = new Set(['', ',', '(', ')', '!', '=', '==', '!=', '>', '<']);

/** The requirements of a label selector, in the words of apimachinery's own parser. Throws a 400. */
export function parseLabelSelector(text: string): Requirement[] {
  const tokens = text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
  let at = 0;
  const peek = () => tokens[at] ?? '';
  const take = () => {
    at += 1;
    return tokens[at - 1] ?? '';
  };
  const refuse = (found: string, expected: string, comma = ',') =>
    badRequest(`unable to parse requirement: found '${found}'${comma} expected: ${expected}`);
  const identifier = () => {
    const found = take();
    if (SYMBOLS.has(found)) throw refuse(found, 'identifier');
    return found;
  };

  const values = (): string[] => {
    const open = take();
    if (open !== '(') throw refuse(open, "'('", '');
    const found: string[] = [];
    for (let wanted = true; ; ) {
      const token = take();
      if (token === ')') return wanted ? [...found, ''] : found;
      if (token === ',') {
        if (wanted) found.push('');
        wanted = true;
      } else if (SYMBOLS.has(token) || !wanted)
        throw refuse(token, wanted ? "',', or identifier" : "',' or ')'");
      else {
        found.push(token);
        wanted = false;
      }
    }
  };

  const requirement = (): Requirement => {
    const isAbsent = peek() === '!';
    if (isAbsent) at += 1;
    const key = identifier();
    if (isAbsent) return { key, operator: 'absent', values: [] };
    if (['', ','].includes(peek())) return { key, operator: 'exists', values: [] };
    const token = take();
    const operator = OPERATORS[token];
    if (operator === undefined) throw refuse(token, EXPECTED);
    if (token === 'in' || token === 'notin') return { key, operator, values: values() };
    return { key, operator, values: ['', ','].includes(peek()) ? [''] : [identifier()] };
  };

  const all: Requirement[] = [];
  while (peek() !== '') {
    if (SYMBOLS.has(peek()) && peek() !== '!')
      throw badRequest(`found '${peek()}', expected: !, identifier, or 'end of string'`);
    all.push(requirement());
    const next = take();
    if (next !== '' && next !== ',') throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
    if (next === ',' && SYMBOLS.has(peek()) && peek() !== '!')
      throw badRequest(`found '${peek()}', expected: identifier after ','`);
  }
  return all;
}
