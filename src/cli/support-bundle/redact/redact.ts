import { REMOVED, redactBlocks } from './blocks.ts';
import { redactLine } from './line.ts';
import { isSensitiveName } from './sensitive-name.ts';

export { REMOVED };

/** Annotation of kubectl: a second copy of the object, which nothing reads in an archive. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Prefix of variables of Stowage, whose values stay. */
const OWN_VARIABLES = 'STOWAGE_';

/** Fields of a reference to a secret, or of a volume of it, whose values stay. */
const REFERENCES = new Set([
  'apiGroup',
  'audience',
  'defaultMode',
  'expirationSeconds',
  'fieldPath',
  'key',
  'kind',
  'name',
  'namespace',
  'path',
  'secretName',
]);

/** Maximum depth of values, which bounds the stack. Deeper ones are removed. */
const DEEPEST = 60;

/**
 * Removes secrets from a text, or from all texts of a value of JSON: credentials and queries of
 * URLs, headers, tokens, private keys, values of sensitive names, variables that are not Stowage's,
 * data of Secrets, and last-applied-configuration. Each is replaced by `REMOVED`. Pure.
 */
export function redact<T>(value: T): T {
  return redactValue(value, 0) as T;
}

/** @param inList true for an item of a SecretList, which may lack its own kind */
function redactValue(value: unknown, depth: number, inList = false): unknown {
  if (typeof value === 'string') return redactText(value, depth);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return REMOVED;
  if (Array.isArray(value)) return redactList(value, depth + 1);
  const kind = 'kind' in value ? value.kind : undefined;
  const isSecret = kind === 'Secret' || (inList && kind === undefined);
  const named = 'name' in value && typeof value.name === 'string' ? value.name : '';
  return mapFields(value, (key, field) => {
    if (key === LAST_APPLIED) return REMOVED;
    if (isSecret && (key === 'data' || key === 'stringData')) return removed(field, depth + 1);
    if (kind === 'SecretList' && key === 'items' && Array.isArray(field))
      return field.map((item) => redactValue(item, depth + 1, true));
    if (key === 'env' && Array.isArray(field)) return redactVariables(field, depth + 1);
    if (key === 'value' && isSensitiveName(named)) return removed(field, depth + 1);
    if (isSensitiveName(key)) return removed(field, depth + 1);
    return redactValue(field, depth + 1);
  });
}

/** Redacts a list. An argument after a sensitive flag is its value. */
const redactList = (list: readonly unknown[], depth: number): unknown[] =>
  list.map((each, index) => {
    const before = list[index - 1];
    const isValue =
      typeof each === 'string' &&
      typeof before === 'string' &&
      /^--?[\w-]+$/.test(before) &&
      isSensitiveName(before);
    return isValue ? REMOVED : redactValue(each, depth);
  });

/** Redacts the variables of a container: only references, and Stowage's own values, stay. */
const redactVariables = (variables: readonly unknown[], depth: number): unknown[] =>
  variables.map((variable) => {
    const redacted = redactValue(variable, depth);
    if (typeof redacted !== 'object' || redacted === null || !('value' in redacted))
      return redacted;
    const isOwn = 'name' in redacted && String(redacted.name).startsWith(OWN_VARIABLES);
    return isOwn ? redacted : { ...redacted, value: REMOVED };
  });

/** Removes all texts and numbers below a sensitive name, except references to a Secret. */
function removed(value: unknown, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'number') return value === '' ? '' : REMOVED;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return REMOVED;
  if (Array.isArray(value)) return value.map((each) => removed(each, depth + 1));
  return mapFields(value, (key, field) =>
    REFERENCES.has(key) && typeof field !== 'object'
      ? redactValue(field, depth + 1)
      : removed(field, depth + 1),
  );
}

/** Keys may be as hostile as values. */
const mapFields = (value: object, map: (key: string, field: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(value).map(([key, field]) => [redactLine(key), map(key, field)]),
  );

/** Maximum number of lines that look like JSON but are not: each costs an exception. */
const MOST_FAILURES = 1000;

function redactText(text: string, depth: number): string {
  const whole = redactJson(text, depth);
  if (whole !== undefined) return whole;
  let failures = 0;
  return redactBlocks(text)
    .split('\n')
    .map((line) => {
      const start = line.indexOf('{');
      if (start < 0 || failures > MOST_FAILURES) return redactLine(line);
      const json = redactJson(line.slice(start), depth);
      if (json !== undefined) return redactLine(line.slice(0, start)) + json;
      failures += 1;
      return redactLine(line);
    })
    .join('\n');
}

/** Redacts a text that is an object or a list in JSON; undefined for any other text. */
function redactJson(text: string, depth: number): string | undefined {
  if (depth > DEEPEST || !/^\s*[{[]/.test(text)) return undefined;
  let value: object;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const redacted = JSON.stringify(redactValue(value, depth + 1));
  try {
    // Unchanged texts keep their spaces, and digits that a number of JavaScript has not.
    return redacted === JSON.stringify(value) ? text : redacted;
  } catch (error) {
    // The value is nested deeper than the stack.
    if (error instanceof RangeError) return REMOVED;
    throw error;
  }
}
