import { describe, expect, test } from '@jest/globals';
import { readAction } from '../../src/cli/ui/actions/read-action.ts';
import { ACTIONS } from '../../src/cli/ui/actions/table.ts';
import {
  FORMS,
  firstValues,
  isFixedEarly,
  isPlanSpent,
  openFields,
  sentFields,
  textsOf,
} from '../../src/ui/actions/forms.ts';
import type { ActionName } from '../../src/ui/protocol.ts';

const NAMES = Object.keys(FORMS) as ActionName[];
const fieldsOf = (action: ActionName) => FORMS[action].fields.map(({ name }) => name);

test.each(NAMES)('the form of %s has the fields of the action', (action) => {
  // Content to overwrite is named by a plan, and never typed.
  const known = Object.keys(ACTIONS[action].fields).filter((field) => field !== 'overwrite');
  expect(fieldsOf(action).toSorted()).toEqual(known.toSorted());
  for (const { name, isNeeded } of FORMS[action].fields) {
    const isOptional = ACTIONS[action].fields[name]?.optional === true;
    // A field of one type only is optional for the action.
    if (!isOptional) expect([name, isNeeded]).toEqual([name, true]);
  }
});

test.each(NAMES)('each first choice of %s is valid', (action) => {
  const first = sentFields(FORMS[action], firstValues(FORMS[action], {}));
  const needed = { name: 'a', node: 'n', storageClass: 'c', size: '1Gi', claim: 'c', grant: 'a/b' };
  const names = { snapshot: 'a/b', to: action === 'grantSnapshot' ? 'c' : 'c/d' };
  const known = Object.entries({ ...needed, ...names }).filter(
    ([name]) => Object.hasOwn(ACTIONS[action].fields, name) && first[name] === undefined,
  );
  expect(readAction({ action, ...first, ...Object.fromEntries(known) })).toHaveProperty('argv');
});

describe('the fields of a creation', () => {
  const form = FORMS.createVolume;
  const shown = (type: string) =>
    openFields(form, { ...firstValues(form, {}), type }, {}).map(({ name }) => name);

  test.each([
    ['sparse', ['size'], ['device', 'group', 'thinPool']],
    ['raw', ['device'], ['size', 'group', 'thinPool']],
    ['lvm', ['group', 'thinPool', 'size'], ['device']],
  ])('for type %s are %j', (type, there, hidden) => {
    expect(shown(type)).toEqual(expect.arrayContaining(there));
    for (const name of hidden) expect(shown(type)).not.toContain(name);
  });

  test('for another type are not sent', () => {
    const values = { type: 'sparse', size: ' 1Gi ', device: '/dev/sdb', group: 'g', mode: '' };
    expect(sentFields(form, values)).toEqual({ type: 'sparse', size: '1Gi' });
  });

  test.each([
    ['sparse', undefined],
    ['raw', 'ext4'],
    ['lvm', 'ext4'],
  ])('for type %s have the consent %j', (type, overwrite) => {
    expect(sentFields(form, { type, overwrite: 'ext4' }).overwrite).toBe(overwrite);
  });
});

test('a value of the button has no field, and is sent', () => {
  const preset = { name: 'data1' };
  const form = FORMS.detachVolume;
  const values = { ...firstValues(form, preset), node: 'n1' };
  expect(openFields(form, values, preset).map(({ name }) => name)).toEqual(['node', 'force']);
  expect(sentFields(form, values)).toEqual({ name: 'data1', node: 'n1' });
  expect(sentFields(form, { ...values, force: true })).toHaveProperty('force', true);
});

test.each([
  [{}, 'The Volume is detached.', /^Waiting until/],
  [{ force: true }, 'The Volume is force-detached. Nothing was verified on the node.', /^Force-/],
] as const)('a detachment with %j ends with %j', (values, done, running) => {
  const texts = textsOf(FORMS.detachVolume, values);
  expect(texts.done).toBe(done);
  expect(texts.running).toMatch(running);
});

test.each(NAMES)('the namespace of %s is known early only if it is fixed', (action) => {
  const isNamespaced = ACTIONS[action].right?.namespaced === true;
  expect(isFixedEarly(FORMS[action], {})).toBe(!isNamespaced);
  const { namespaceFrom } = FORMS[action];
  if (namespaceFrom === undefined) return;
  expect(fieldsOf(action)).toContain(namespaceFrom);
  expect(isFixedEarly(FORMS[action], { [namespaceFrom]: 'a' })).toBe(true);
});

test('a snapshot to restore does not fix the namespace of the new claim', () => {
  expect(isFixedEarly(FORMS.restoreSnapshot, { snapshot: 'prod/s' })).toBe(false);
});

test.each([
  ['no-plan', true],
  ['not-confirmed', true],
  ['too-many', false],
  ['no-key', false],
])('after the refusal %s, a plan is spent: %j', (code, isSpent) => {
  expect(isPlanSpent(code)).toBe(isSpent);
});
