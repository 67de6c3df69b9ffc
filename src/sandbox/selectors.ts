import type { Kind, StoredObject } from './kind.ts';
import { parseLabelSelector, type Requirement, WHOLE } from './label-selector.ts';
import { badRequest } from './refusal.ts';

export type Matcher = (object: StoredObject) => boolean;

const EQUALITY_TERM = /^\s*([^\s!=,()]+)\s*(==|=|!=)\s*([^\s!=,()]*)\s*$/;

/** Splits a selector at commas outside parentheses. */
function terms(selector: string): string[] {
  return selector.split(/,(?![^(]*\))/).filter((term) => term.trim() !== '');
}

/** Returns a matcher for labels. Throws a 400 for an invalid selector. */
export function labelMatcher(selector: string): Matcher {
  const requirements = parseLabelSelector(selector);
  return ({ metadata: { labels = {} } }) => requirements.every((one) => holds(one, labels));
}

function holds({ key, operator, values }: Requirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'gt':
      return WHOLE.test(value ?? '') && BigInt(value ?? '') > BigInt(values[0] ?? '');
    case 'lt':
      return WHOLE.test(value ?? '') && BigInt(value ?? '') < BigInt(values[0] ?? '');
  }
}

const ANY_KIND = ['metadata.name', 'metadata.namespace'];
const EVENT_FIELDS = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
];
const FIELDS: Record<string, string[]> = {
  events: [...EVENT_FIELDS.map((field) => `involvedObject.${field}`), 'reason', 'type', 'source'],
  pods: ['spec.nodeName', 'status.phase'],
};

/**
 * Returns a matcher for fields. Throws a 400 for a field that the API
 * server does not support either.
 */
export function fieldMatcher(selector: string, kind: Kind): Matcher {
  const own = kind.group === '' ? FIELDS[kind.plural] : undefined;
  const supported = [
    ...(kind.custom && !kind.namespaced ? ['metadata.name'] : ANY_KIND),
    ...(own ?? []),
  ];
  const tests = terms(selector).map((term) => {
    const [, path = '', operator, value] = EQUALITY_TERM.exec(term) ?? [];
    if (operator === undefined)
      throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    if (!supported.includes(path))
      throw badRequest(
        kind.custom || own !== undefined || kind.plural === 'nodes'
          ? `field label not supported: ${path}`
          : `"${path}" is not a known field selector: only ${ANY_KIND.map((one) => `"${one}"`).join(', ')}`,
      );
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
