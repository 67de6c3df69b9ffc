import type { Kind, StoredObject } from './kind.ts';
import { LABEL_VALUE, QUALIFIED_NAME } from './objects/metadata.ts';
import { badRequest } from './refusal.ts';

export type Matcher = (object: StoredObject) => boolean;

const SET_TERM = /^\s*([^\s!=<>,()]+)\s+(in|notin)\s*\(([^()]*)\)\s*$/;
const ORDER_TERM = /^\s*([^\s!=<>,()]+)\s*([<>])\s*([^\s!=<>,()]*)\s*$/;
const EQUALITY_TERM = /^\s*([^\s!=<>,()]+)\s*(==|=|!=)\s*([^\s!=<>,()]*)\s*$/;
const EXISTENCE_TERM = /^\s*(!?)\s*([^\s!=<>,()]+)\s*$/;

/** Splits at the commas that are not within parentheses. */
function terms(selector: string): string[] {
  return selector.split(/,(?![^(]*\))/).filter((term) => term.trim() !== '');
}

/** Throws a 400 for a selector that cannot be parsed. */
export function labelMatcher(selector: string): Matcher {
  if (selector.trim() !== '' && selector.trimEnd().endsWith(','))
    throw badRequest("unable to parse requirement: found '', expected: identifier after ','");
  const tests = terms(selector).map(labelTest);
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}));
}

function labelTest(term: string): (labels: Record<string, string>) => boolean {
  const set = SET_TERM.exec(term);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    insist(key, values);
    return (labels) => values.includes(labels[key] as string) === (operator === 'in');
  }
  const equality = EQUALITY_TERM.exec(term);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    insist(key, [value]);
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const order = ORDER_TERM.exec(term);
  if (order) {
    const [, key = '', operator, bound = ''] = order;
    insist(key, [bound]);
    if (!WHOLE.test(bound)) throw unreadable(`values[0]: Invalid value: "${bound}": must be an integer`);
    return ({ [key]: value = '' }) =>
      WHOLE.test(value) && (operator === '<' ? BigInt(value) < BigInt(bound) : BigInt(value) > BigInt(bound));
  }
  const existence = EXISTENCE_TERM.exec(term);
  if (!existence) throw badRequest(`unable to parse requirement: found '${term.trim()}'`);
  const [, not, key = ''] = existence;
  insist(key);
  return (labels) => Object.hasOwn(labels, key) === (not === '');
}

const WHOLE = /^-?\d+$/;

const unreadable = (why: string) => badRequest(`unable to parse requirement: ${why}`);

/** Throws a 400 for what can be no label, as the API server does: nothing can have it. */
function insist(key: string, values: string[] = []): void {
  if (!QUALIFIED_NAME.test(key))
    throw unreadable(`<nil>: Invalid value: ${JSON.stringify(key)}: is no valid label key`);
  for (const value of values)
    if (!LABEL_VALUE.test(value))
      throw unreadable(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: is no valid label value`);
}

const ANY_KIND = ['metadata.name', 'metadata.namespace'];
const EVENT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const FIELDS: Record<string, string[]> = {
  events: [...EVENT_FIELDS.map((field) => `involvedObject.${field}`), 'reason', 'type', 'source'],
  pods: ['spec.nodeName', 'status.phase'],
};

/** Throws a 400 for a field that the API server cannot select by either. */
export function fieldMatcher(selector: string, kind: Kind): Matcher {
  const supported = [...ANY_KIND, ...(kind.group === '' ? (FIELDS[kind.plural] ?? []) : [])];
  const tests = terms(selector).map((term) => {
    const [, path = '', operator, value] = EQUALITY_TERM.exec(term) ?? [];
    if (operator === undefined) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    if (!supported.includes(path)) throw badRequest(`field label not supported: ${path}`);
    return (object: StoredObject) => (fieldOf(object, path) === value) === (operator !== '!=');
  });
  return (object) => tests.every((test) => test(object));
}

function fieldOf(object: StoredObject, path: string): string {
  let value: unknown = path === 'source' ? object.source : object;
  for (const step of path === 'source' ? ['component'] : path.split('.'))
    value = (value as Record<string, unknown> | undefined)?.[step];
  return value === undefined ? '' : String(value);
}
