import { describe, expect, test } from '@jest/globals';
import type { StoredObject } from '../../src/sandbox/kind.ts';
import { celValue, compileExpression } from '../../src/sandbox/schema/cel.ts';
import { compileSchema } from '../../src/sandbox/schema/compile.ts';
import type { Structural } from '../../src/sandbox/schema/structural.ts';

const object = (fields: object) =>
  ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, ...fields }) as StoredObject;
const spec = (schema: Structural): Structural => ({ type: 'object', properties: { spec: schema } });
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const causes = (schema: Structural, value: unknown, old?: unknown) =>
  compileSchema(spec(schema))
    .validate(object({ spec: value }), old === undefined ? undefined : object({ spec: old }))
    .map(({ field, text }) => `${field}: ${text}`);

describe('pruning', () => {
  const props = (properties: Record<string, Structural>, more = {}) => ({
    type: 'object',
    properties,
    ...more,
  });
  test.each<[string, Structural, object, object, string[]]>([
    ['unknown', props({ a: { type: 'string' } }), { a: 'x', b: 1 }, { a: 'x' }, ['spec.b']],
    [
      'nested in a list',
      props({ l: { type: 'array', items: props({}) } }),
      { l: [{ z: 1 }] },
      { l: [{}] },
      ['spec.l[0].z'],
    ],
    ['preserved', open, { b: { c: 1 } }, { b: { c: 1 } }, []],
    [
      'known below preserved',
      { ...open, properties: { k: props({}) } },
      { k: { z: 1 }, y: 1 },
      { k: {}, y: 1 },
      ['spec.k.z'],
    ],
    [
      'map',
      { type: 'object', additionalProperties: props({}) },
      { x: { z: 1 } },
      { x: {} },
      ['spec.x.z'],
    ],
    ['name of Object.prototype', props({}), { toString: 1 }, {}, ['spec.toString']],
  ])('%s', (_, schema, given, expected, removed) => {
    const pruned = object({ spec: given });
    expect(compileSchema(spec(schema)).prune(pruned)).toEqual(removed);
    expect(pruned.spec).toEqual(expected);
  });
});

describe('defaults', () => {
  const text = { type: 'string', default: 'x' };
  test.each<[string, Structural, object, object]>([
    ['missing', { properties: { a: text } }, {}, { a: 'x' }],
    ['present', { properties: { a: text } }, { a: 'y' }, { a: 'y' }],
    ['null', { properties: { a: text } }, { a: null }, { a: 'x' }],
    ['null without default', { properties: { a: { type: 'string' } } }, { a: null }, {}],
    ['nullable', { properties: { a: { ...text, nullable: true } } }, { a: null }, { a: null }],
    [
      'within a default',
      { properties: { o: { type: 'object', default: {}, properties: { a: text } } } },
      {},
      { o: { a: 'x' } },
    ],
    [
      'in items',
      { properties: { l: { type: 'array', items: { type: 'object', properties: { a: text } } } } },
      { l: [{}] },
      { l: [{ a: 'x' }] },
    ],
  ])('%s', (_, schema, given, expected) => {
    const filled = object({ spec: given });
    compileSchema(spec({ type: 'object', ...schema })).fillDefaults(filled);
    expect(filled.spec).toEqual(expected);
  });
});

describe('types', () => {
  test.each<[Structural, unknown, string[]]>([
    [
      { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      {},
      ['spec.a: Required value'],
    ],
    [
      { type: 'string' },
      5,
      ['spec: Invalid value: "integer": spec in body must be of type string: "integer"'],
    ],
    [{ type: 'string', nullable: true }, null, []],
    [{ type: 'integer', format: 'int32' }, 5, []],
    [
      { type: 'integer' },
      5.5,
      ['spec: Invalid value: "number": spec in body must be of type integer: "number"'],
    ],
    [
      { type: 'string', format: 'date-time' },
      'whenever',
      ['spec: Invalid value: "whenever": spec in body must be of type date-time: "whenever"'],
    ],
    [{ type: 'string', format: 'date-time' }, '2026-01-02T03:04:05.678Z', []],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      ['spec: Invalid value: 2147483648: spec in body must be of type int32: 2147483648'],
    ],
    [{ type: 'string', format: 'colour' }, 'whatever', []],
    [{ 'x-kubernetes-int-or-string': true }, 5, []],
    [{ 'x-kubernetes-int-or-string': true }, '5Gi', []],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      ['spec: Invalid value: "boolean": spec in body must be of type integer or string: "boolean"'],
    ],
    [
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      5,
      [],
    ],
    [
      { type: 'string', enum: ['a', 'b'] },
      'c',
      ['spec: Unsupported value: "c": supported values: "a", "b"'],
    ],
    [
      { type: 'string', pattern: '^/' },
      'x',
      [`spec: Invalid value: "x": spec in body should match '^/'`],
    ],
    [
      { type: 'string', minLength: 1 },
      '',
      ['spec: Invalid value: "": spec in body should be at least 1 chars long'],
    ],
    [
      { type: 'integer', minimum: 1 },
      0,
      ['spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
    ],
    [
      { type: 'array', maxItems: 1, items: { type: 'string' } },
      ['a', 'b'],
      ['spec: Too many: 2: must have at most 1 items'],
    ],
  ])('%j %j', (schema, value, expected) => expect(causes(schema, value)).toEqual(expected));

  test('an invalid schema is refused', () => {
    expect(() => compileSchema({ type: 'text' })).toThrow();
    expect(() =>
      compileSchema({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self ==' }] }),
    ).toThrow();
  });
});

describe('rules', () => {
  const rule = (text: string, more = {}) => ({
    ...open,
    'x-kubernetes-validations': [{ rule: text, ...more }],
  });
  const failed = (text: string) => [`spec: Invalid value: ${text}`];

  test.each<[string, object, object | undefined, string[]]>([
    ['self.a == 1', { a: 1 }, undefined, []],
    ['self.a == 1', { a: 2 }, undefined, failed('failed rule: self.a == 1')],
    ['self.a == oldSelf.a', { a: 2 }, undefined, []],
    ['self.a == oldSelf.a', { a: 2 }, { a: 1 }, failed('failed rule: self.a == oldSelf.a')],
    ['has(self.a) == has(oldSelf.a)', {}, {}, []],
    ['self.a == 1', {}, undefined, failed('rule evaluation error: No such key: a: self.a == 1')],
  ])('%j on %j, was %j', (text, value, old, expected) =>
    expect(causes(rule(text), value, old)).toEqual(expected),
  );

  test('report their message, or the result of messageExpression', () => {
    expect(causes(rule('false', { message: 'never' }), {})).toEqual(failed('never'));
    expect(causes(rule('false', { messageExpression: '"got " + self.a' }), { a: 'x' })).toEqual(
      failed('got x'),
    );
    expect(causes(rule('false', { message: 'never', fieldPath: '.a' }), {})[0]).toMatch(
      /^spec.a: /,
    );
  });

  test('hold for items and map values', () => {
    const short = {
      type: 'string',
      'x-kubernetes-validations': [{ rule: 'size(self) < 3', message: 'long' }],
    };
    expect(causes({ type: 'array', items: short }, ['a', 'long'])).toEqual([
      'spec[1]: Invalid value: "long": long',
    ]);
    expect(causes({ type: 'object', additionalProperties: short }, { x: 'long' })).toEqual([
      'spec.x: Invalid value: "long": long',
    ]);
  });

  test('are not evaluated while types are invalid', () =>
    expect(
      causes({ type: 'object', 'x-kubernetes-validations': [{ rule: 'false' }] }, 5)[1],
    ).toMatch(/^<nil>: .*not checked/));
});

describe('lists', () => {
  const items = {
    type: 'object',
    required: ['k'],
    properties: { k: { type: 'string' }, v: { type: 'integer' } },
  };
  const map: Structural = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items,
  };
  const set = {
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'string' },
  } as const;

  test('refuse duplicate keys in type map', () => {
    expect(causes(map, [{ k: 'a' }, { k: 'b' }])).toEqual([]);
    expect(causes(map, [{ k: 'a' }, { k: 'a', v: 1 }])).toEqual([
      'spec[1]: Duplicate value: {"k":"a"}',
    ]);
  });

  test('refuse duplicate values in type set', () =>
    expect(causes(set, ['a', 'b', 'a'])).toEqual(['spec[2]: Duplicate value: "a"']));

  test('allow duplicates without a type', () =>
    expect(causes({ type: 'array', items }, [{ k: 'a' }, { k: 'a' }])).toEqual([]));

  test('match old items of type map by key in transition rules', () => {
    const rule = { rule: 'self.v >= oldSelf.v', message: 'shrank' };
    const schema = { ...map, items: { ...items, 'x-kubernetes-validations': [rule] } };
    const old = [
      { k: 'a', v: 5 },
      { k: 'b', v: 1 },
    ];
    expect(
      causes(
        schema,
        [
          { k: 'b', v: 1 },
          { k: 'c', v: 0 },
          { k: 'a', v: 4 },
        ],
        old,
      ),
    ).toEqual(['spec[2]: Invalid value: shrank']);
  });

  test.each([
    ['without keys', { ...map, 'x-kubernetes-list-map-keys': [] }],
    ['with a key that is no property', { ...map, 'x-kubernetes-list-map-keys': ['z'] }],
    ['with a key that may be absent', { ...map, 'x-kubernetes-list-map-keys': ['v'] }],
  ])('a map %s is refused', (_, schema) =>
    expect(() => compileSchema(spec(schema))).toThrow('map'),
  );

  test('an unsupported format is refused', () =>
    expect(() => compileSchema(spec({ type: 'string', format: 'cidr' }))).toThrow('cidr'));
});

describe('CEL', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['self == oldSelf', { a: [1, { b: 'x' }] }, { a: [1, { b: 'x' }] }, true],
    ['self == oldSelf', { a: [1, { b: 'x' }] }, { a: [1, { b: 'y' }] }, false],
    ['self == oldSelf', 1, '1', false],
    ['!has(oldSelf.x) || has(self.x) && self.x == oldSelf.x', {}, { x: 1 }, false],
    ['!has(oldSelf.x) || self.x == oldSelf.x', { x: 2 }, {}, true],
    ['self.startsWith("/dev/") && self.matches("^/[a-z/]+$")', '/dev/sda', 0, true],
    ['self.all(n, n in ["a", "b"])', ['a', 'c'], 0, false],
    ['[has(self.a), has(self.b)].filter(x, x).size() <= 1', { a: 1, b: 2 }, 0, false],
    ['quantity(self).compareTo(quantity(oldSelf)) >= 0', '1Gi', '1073741824', true],
    ['quantity(self).compareTo(quantity(oldSelf)) >= 0', '1G', '1Gi', false],
    ['quantity(string(self)).isGreaterThan(quantity(oldSelf))', 1025, '1Ki', true],
    ['quantity(self).isLessThan(quantity(oldSelf))', '1M', '1Mi', true],
  ])('%s of %j and %j', (text, self, oldSelf, expected) => {
    const values = { self: celValue(undefined, self), oldSelf: celValue(undefined, oldSelf) };
    expect(compileExpression(text).evaluate(values)).toBe(expected);
  });

  test('escapes property names that are no CEL identifiers, but not keys of maps', () => {
    const text = { type: 'string' };
    const schema = {
      properties: {
        namespace: text,
        'a-b.c/d__e': text,
        in: text,
        m: { additionalProperties: text },
      },
    };
    const self = celValue(schema, {
      namespace: 'n',
      'a-b.c/d__e': 'o',
      in: 'p',
      m: { 'a-b': 'q' },
    });
    const rule =
      '[self.__namespace__, self.a__dash__b__dot__c__slash__d__underscores__e, self.__in__, self.m["a-b"]]';
    expect(compileExpression(rule).evaluate({ self })).toEqual(['n', 'o', 'p', 'q']);
  });

  // As in the API server, quantity() takes strings, but an int-or-string may be an int.
  test('quantity() of an integer is an error', () =>
    expect(() =>
      compileExpression('quantity(self).isLessThan(quantity("5"))').evaluate({ self: 5n }),
    ).toThrow('quantity(int)'));
});
