import { MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const SHELVES = '/apis/example.com/v1/namespaces/default/shelves';
const shelf = (spec: unknown) => ({
  apiVersion: 'example.com/v1',
  kind: 'Shelf',
  metadata: { name: 'a' },
  spec,
});
const create = (spec: unknown): Step => ['POST', SHELVES, shelf(spec)];
const merge = (spec: unknown): Step => ['PATCH', `${SHELVES}/a`, { spec }, MERGE];

const specs: Record<string, unknown> = {
  all: {
    height: 3,
    load: 1.5,
    wood: 'pine',
    since: '2026-01-02T03:04:05Z',
    open: false,
    note: null,
    books: ['a'],
    tags: ['a', 'b'],
    slots: [{ name: 'a', width: 1 }],
    colours: { a: 'red' },
    free: { x: { y: [1] } },
  },
  none: {},
  null: null,
  'a text': 'x',
  'a list': [],
  'text for a number': { height: '3' },
  'too small': { height: 0 },
  'too large': { height: 11 },
  'no multiple': { load: 0.7 },
  'too short': { wood: 'a' },
  'too long': { wood: 'mahogany' },
  'not of the pattern': { wood: 'Oak' },
  'no time': { since: 'yesterday' },
  'a time with milliseconds': { since: '2026-01-02T03:04:05.678Z' },
  'text for a boolean': { open: 'yes' },
  'null for a default': { open: null },
  'null for a number': { height: null },
  'null that is kept': { note: null },
  'no items': { books: [] },
  'too many items': { books: ['a', 'b', 'c', 'd'] },
  'items of another type': { books: [1, 'a'] },
  'the same twice in a set': { tags: ['a', 'b', 'a'] },
  'the same key twice': { slots: [{ name: 'a' }, { name: 'a' }] },
  'no key': { slots: [{ width: 1 }] },
  'too wide': { slots: [{ name: 'a', width: 101 }] },
  'another colour': { colours: { a: 'red', b: 'green' } },
  'a rule': { wood: 'oak' },
  'a rule without message': { load: 100.5 },
  'unknown fields': { foo: 1, slots: [{ name: 'a', bar: 2 }], free: { kept: 1 } },
};

export const shelves = recorded('shelves', [SHELVES], {
  ...Object.fromEntries(Object.entries(specs).map(([title, spec]) => [title, [create(spec)]])),
  'two colours that are none': [
    { ofMap: ['POST', SHELVES, shelf({ colours: { a: 'green', b: 'grey' } })] },
  ],
  'a slot that shrinks': [
    create({
      slots: [
        { name: 'a', width: 5 },
        { name: 'b', width: 5 },
      ],
    }),
    merge({
      slots: [
        { name: 'b', width: 6 },
        { name: 'c', width: 1 },
      ],
    }),
    merge({
      slots: [
        { name: 'c', width: 1 },
        { name: 'b', width: 5 },
      ],
    }),
  ],
  'what was invalid before may stay': [
    create({ wood: 'pine' }),
    merge({ wood: 'pine', height: 2 }),
  ],
  generation: [
    create({}),
    merge({ height: 2 }),
    ['PATCH', `${SHELVES}/a`, { metadata: { labels: { a: 'b' } } }, MERGE],
  ],
  'in all namespaces': [create({}), ['GET', '/apis/example.com/v1/shelves']],
  'in a namespace that is not there': [
    ['POST', '/apis/example.com/v1/namespaces/nowhere/shelves', shelf({})],
    ['GET', '/apis/example.com/v1/namespaces/nowhere/shelves'],
    ['GET', '/apis/example.com/v1/namespaces/nowhere/shelves/a'],
  ],
  'in another namespace than it says': [
    ['POST', SHELVES, { ...shelf({}), metadata: { name: 'a', namespace: 'other' } }],
  ],
  'as a table': [
    create({ height: 3, wood: 'pine', since: '2020-01-01T00:00:00Z' }),
    ['GET', SHELVES, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }],
  ],
});
