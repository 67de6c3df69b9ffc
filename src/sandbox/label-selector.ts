import { keyFaults, valueFaults } from './objects/formats.ts';
import { badRequest, quoted } from './refusal.ts';

/** Requirement of a label selector. */
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
/** Pattern of values that can be compared. */
export const WHOLE = /^-?\d+$/;
const SYMBOLS = new Set(['', ',', '(', ')', '!', '=', '==', '!=', '>', '<']);

const unparsed = (faults: string[]) =>
  badRequest(
    `unable to parse requirement: ${faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`}`,
  );

/** Throws a 400 for a value that no label can have (apimachinery, NewRequirement). */
function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  const compares = operator === 'gt' || operator === 'lt';
  const faults = [
    ...values.flatMap((value, i) =>
      compares && !WHOLE.test(value)
        ? [
            `values[${i}]: Invalid value: ${quoted(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
          ]
        : [],
    ),
    ...values.flatMap((value, i) => {
      const found = valueFaults(value);
      return found.length === 0
        ? []
        : [`values[${i}][${key}]: Invalid value: ${quoted(value)}: ${found.join('; ')}`];
    }),
  ];
  if (faults.length > 0) throw unparsed(faults);
  return requirement;
}

/** Parses a label selector, with the messages of apimachinery's own parser. Throws a 400. */
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
    const faults = keyFaults(key);
    if (faults.length > 0)
      throw unparsed([`<nil>: Invalid value: ${quoted(key)}: ${faults.join('; ')}`]);
    if (isAbsent) return { key, operator: 'absent', values: [] };
    if (['', ','].includes(peek())) return { key, operator: 'exists', values: [] };
    const token = take();
    const operator = OPERATORS[token];
    if (operator === undefined) throw refuse(token, EXPECTED);
    const isSet = token === 'in' || token === 'notin';
    const given = isSet ? values() : [['', ','].includes(peek()) ? '' : identifier()];
    return checked({ key, operator, values: [...new Set(given)].sort() });
  };

  const all: Requirement[] = [];
  while (peek() !== '') {
    if (SYMBOLS.has(peek()) && peek() !== '!')
      throw badRequest(`found '${peek()}', expected: !, identifier, or 'end of string'`);
    all.push(requirement());
    const next = take();
    if (next !== '' && next !== ',')
      throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
    if (next === ',' && SYMBOLS.has(peek()) && peek() !== '!')
      throw badRequest(`found '${peek()}', expected: identifier after ','`);
  }
  return all;
}
