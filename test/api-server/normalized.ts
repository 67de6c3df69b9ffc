import { isFields } from '../../src/sandbox/json.ts';
import type { Answer } from './client.ts';

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** An age moves with the day of the run, and keeps its form. */
const AGE = /^\d+s$|^\d+y(\d+d)?$/;
const GENERATED = /\bx-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g;
/** What Go's comparison adds, in the words of its own types. */
const DIFFERENCE = /\n@@[\s\S]*?\n(?=, |\]|$)/g;
/** Of a list, the version is that of all that is stored, which anyone's write moves: a controller's, or the server's own. */
const LIST = /(List|Table)$/;
/** What is of server-side apply, and a hash of how objects are stored. */
const LEFT_OUT = new Set(['managedFields', 'storageVersionHash']);

/**
 * Answers without what differs from run to run: UIDs, versions and generated names are numbered in the order in which
 * they come, so that it still shows which are the same.
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

/** A refusal with its causes sorted by field, in its message too. */
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
