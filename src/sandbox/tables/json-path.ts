import { isFields } from '../json.ts';

/** Finds the values at a path; the first one is shown. */
export type JsonPath = (value: unknown) => unknown[];

type Step = (value: unknown) => unknown[];

const FIELD = /^\.?((?:[^.[\]\\'"*@?()\s{}]|\\.)+)/;
const QUOTED = /^\[(?:'([^']*)'|"([^"]*)")\]/;
const INDEX = /^\[(-?\d+)\]/;
const WILDCARD = /^(?:\[\*\]|\.\*)/;
const FILTER =
  /^\[\?\(\s*@((?:\.[\w-]+)+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|(-?[\d.]+|true|false))\s*\)\]/;

/**
 * Parses the part of client-go's JSONPath that columns of CRDs use: fields, indices,
 * wildcards, and filters that compare with a constant. Throws for other syntax, and for a path
 * that does not begin with a dot.
 */
export function parseJsonPath(path: string): JsonPath {
  if (!path.startsWith('.')) throw new Error('must be a simple json path starting with .');
  const steps: Step[] = [];
  let rest = path === '.' ? '' : path;
  while (rest !== '') {
    const [step, length] = nextStep(rest) ?? [];
    if (step === undefined || length === undefined)
      throw new Error(`the sandbox does not understand ${JSON.stringify(rest)} in a JSONPath`);
    steps.push(step);
    rest = rest.slice(length);
  }
  return (value) => steps.reduce((found, step) => found.flatMap(step), [value]);
}

function nextStep(rest: string): [Step, number] | undefined {
  for (const [pattern, make] of STEPS) {
    const found = pattern.exec(rest);
    if (found) return [make(found), found[0].length];
  }
  return undefined;
}

const field =
  (name: string): Step =>
  (value) =>
    isFields(value) && Object.hasOwn(value, name) ? [value[name]] : [];

const STEPS: [RegExp, (found: RegExpExecArray) => Step][] = [
  [
    WILDCARD,
    () => (value) => (typeof value === 'object' && value !== null ? Object.values(value) : []),
  ],
  [FIELD, ([, name = '']) => field(name.replace(/\\(.)/g, '$1'))],
  [QUOTED, ([, single, double]) => field(single ?? double ?? '')],
  [
    INDEX,
    ([, index]) =>
      (value) =>
        Array.isArray(value) ? value.slice(Number(index)).slice(0, 1) : [],
  ],
  [
    FILTER,
    ([, path = '', operator, double, single, literal = '']) => {
      const find = parseJsonPath(path);
      const wanted = double ?? single ?? JSON.parse(literal);
      return (value) =>
        Array.isArray(value)
          ? value.filter((item) => {
              const [found] = find(item);
              return found !== undefined && (found === wanted) === (operator === '==');
            })
          : [];
    },
  ],
];
