import { isFields } from '../../src/sandbox/json.ts';
import type { Answer } from './client.ts';

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** An age changes with the day of the run, but its format does not. */
const AGE = /^\d+s$|^\d+y(\d+d)?$/;
const GENERATED = /\bx-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g;
/** The difference that Go's comparison adds, in terms of Go's types. */
const DIFFERENCE = /\n@@[\s\S]*?\n(?=, |\]|$)/g;
/**
 * The version of a list changes with every write to the server, also by controllers or the server
 * itself.
 */
const LIST = /(List|Table)$/;
/** Fields of server-side apply, and a hash of the storage version. */
const LEFT_OUT = new Set(['managedFields', 'storageVersionHash']);

/**
 * Returns responses without the parts that differ between runs. UIDs, versions and generated names
 * are numbered in order of occurrence, so that equal ones remain visible.
 */
export function normalized(answers: Answer[]): unknown[] {
  const names = new Map<string, string>();
  const nameOf = (what: string, value: string) => {
    const known =
      names.get(value) ??
      `<${what} ${[...names.values()].filter((one) => one.includes(what)).length + 1}>`;
    names.set(value, known);
    return known;
  };
  const text = (value: string) =>
    [...names]
      .filter(([one, name]) => name.startsWith('<version') && one.length > 1)
      .reduce(
        (result, [one, name]) => result.replaceAll(new RegExp(`\\b${one}\\b`, 'g'), name),
        value,
      )
      .replaceAll(DIFFERENCE, '')
      .replaceAll(UID, (uid) => nameOf('uid', uid))
      .replaceAll(GENERATED, (one) => nameOf('name', one))
      .replaceAll(TIME, '<time>');
  const walk = (value: unknown, path: string): unknown => {
    if (path === 'list.metadata.resourceVersion') return '<version of all>';
    if (typeof value === 'string')
      return AGE.test(value)
        ? '<age>'
        : path.endsWith('metadata.resourceVersion')
          ? nameOf('version', value)
          : text(value);
    if (Array.isArray(value)) return value.map((item) => walk(item, path));
    if (!isFields(value)) return value;
    const entries = Object.entries(value)
      .filter(
        ([key]) =>
          !LEFT_OUT.has(key) && !(key === 'description' && path.endsWith('columnDefinitions')),
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [text(key), walk(child, `${path}.${key}`)]);
    return Object.fromEntries(entries);
  };
  return answers.map(({ code, body, headers: { warning } }) => ({
    code,
    body: walk(body, LIST.test(body?.kind) ? 'list' : ''),
    ...(warning === undefined ? {} : { warning: [warning].flat().join(', ') }),
  }));
}

/** Returns a refusal with its causes sorted by field, also in its message. */
export function withSortedCauses(answer: Answer): Answer {
  const { body } = answer;
  const causes: { field: string; message: string }[] = body.details.causes;
  const sorted = causes.toSorted((a, b) => (a.field < b.field ? -1 : 1));
  const spelt = (all: typeof causes) =>
    all.map(({ field, message }) => `${field}: ${message}`).join(', ');
  const message = body.message.replace(spelt(causes), () => spelt(sorted));
  return { ...answer, body: { ...body, message, details: { ...body.details, causes: sorted } } };
}

export function withoutVersion(answer: Answer): Answer {
  const { resourceVersion: _, ...metadata } = answer.body.metadata;
  return { ...answer, body: { ...answer.body, metadata } };
}
