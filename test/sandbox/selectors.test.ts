import { describe, expect, test } from '@jest/globals';
import { BUILTIN_KINDS } from '../../src/sandbox/builtin-kinds.ts';
import type { Kind, StoredObject } from '../../src/sandbox/kind.ts';
import { fieldMatcher, labelMatcher } from '../../src/sandbox/selectors.ts';

const object = (fields: object) =>
  ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, ...fields }) as StoredObject;
const kindOf = (plural: string) => BUILTIN_KINDS.find((kind) => kind.plural === plural) as Kind;

describe('labels', () => {
  const labelled = object({
    metadata: { name: 'a', labels: { tier: 'db', 'x.io/zone': 'z1', k: '30', text: 'x' } },
  });
  test.each([
    ['', true],
    ['tier=db', true],
    ['tier==db', true],
    ['tier=web', false],
    ['tier!=web', true],
    ['tier!=db', false],
    ['nope!=db', true],
    ['tier', true],
    ['nope', false],
    ['!tier', false],
    ['!nope', true],
    ['tier in (web, db)', true],
    ['tier in (web)', false],
    ['tier notin (web,cache)', true],
    ['tier notin (web,db)', false],
    ['nope notin (a)', true],
    ['x.io/zone=z1,tier in (web,db),!nope', true],
    ['x.io/zone=z2,tier in (web,db)', false],
    ['k>28', true],
    ['k > 30', false],
    ['k<31', true],
    ['k<9,k', false],
    ['text>1', false],
    ['nope>1', false],
    ['k in(30)', true],
    ['text in (x,)', true],
  ])('%j matches: %j', (selector, expected) =>
    expect(labelMatcher(selector)(labelled)).toBe(expected),
  );

  test.each([
    ...['a b', 'é=1', 'a=é', 'a\u0007=1', 'a=b\u001b', 'é', '!é', 'é in (a)', 'a in (é)', '-a=1'],
    ...['k>x', 'k>', 'k>1>2', 'a,', 'a=b,'],
  ])('%j is refused', (selector) =>
    expect(() => labelMatcher(selector)).toThrow(/unable to parse requirement: |expected: /),
  );
});

describe('fields', () => {
  const event = object({
    metadata: { name: 'e', namespace: 'n' },
    involvedObject: { name: 'v', kind: 'Volume' },
  });
  test.each([
    ['events', 'metadata.name=e,metadata.namespace=n', event, true],
    ['events', 'metadata.name!=e', event, false],
    ['events', 'involvedObject.name=v,involvedObject.kind=Volume', event, true],
    ['events', 'involvedObject.name=w', event, false],
    ['events', 'involvedObject.uid=', event, true],
    ['pods', 'spec.nodeName=n1', object({ spec: { nodeName: 'n1' } }), true],
    ['pods', 'spec.nodeName=n1', object({}), false],
  ])('%s %j', (plural, selector, of, expected) =>
    expect(fieldMatcher(selector, kindOf(plural))(of)).toBe(expected),
  );

  test('refuses a field that the API server cannot select by', () =>
    expect(() => fieldMatcher('spec.nodeName=n1', kindOf('nodes'))).toThrow(
      'field label not supported: spec.nodeName',
    ));
});
