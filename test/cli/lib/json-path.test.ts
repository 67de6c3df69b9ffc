import { expect, test } from '@jest/globals';
import { fillJsonPath } from '../../../src/cli/lib/output/json-path.ts';

const LIST = {
  kind: 'List',
  items: [
    {
      metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'db', tier: 'x' } },
      status: { phase: 'Available', attachments: [{ node: 'n1' }, { node: 'n2' }] },
    },
    { metadata: { name: 'b' }, status: { phase: 'Failed' } },
  ],
};

test.each([
  ['{.kind}', 'List'],
  ['{$.kind}', 'List'],
  ['{.items[*].metadata.name}', 'a b'],
  ['{.items[0].metadata.name}', 'a'],
  ['{.items[-1:].metadata.name}', 'b'],
  ['{.items[1].metadata.labels}', ''],
  ['{.items[0].status.attachments[0]}', '{"node":"n1"}'],
  ['{..node}', 'n1 n2'],
  [String.raw`{.items[0].metadata.labels.app\.kubernetes\.io/name}`, 'db'],
  ["{.items[0].metadata.labels['tier']}", 'x'],
  ['{.items[?(@.status.phase=="Failed")].metadata.name}', 'b'],
  [
    '{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}',
    'a\tAvailable\nb\tFailed\n',
  ],
  ['{range .items[*].status.attachments[*]}{@.node},{end}', 'n1,n2,'],
  ['name: {.items[0].metadata.name}!', 'name: a!'],
  ['{.nothing.there}', ''],
  ['{.items[?(@.metadata.labels.tier=="x")].metadata.name}', 'a'],
  ['{.items[-1].metadata.name}', 'b'],
  ["{.kind}{'\\n'}", 'List\n'],
])('%s gives %j', (template, text) => {
  expect(fillJsonPath(template, LIST)).toBe(text);
});

test('range iterates over plain values', () => {
  expect(fillJsonPath('{range .a[*]}<{@}>{end}', { a: [1, 'x', null] })).toBe('<1><x><null>');
});

test.each(['{.a', '.a}', '{range .items[*]}', '{end}', '{}', '{"a\\q"}', '{.items[?(]}'])(
  '%s is refused',
  (template) => {
    expect(() => fillJsonPath(template, LIST)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(/^-o jsonpath: /) }),
    );
  },
);

test('a filter runs no JavaScript', () => {
  const template = '{.items[?(globalThis.process.exit(3))].metadata.name}';
  expect(fillJsonPath(template, LIST)).toBe('');
});

test('control characters in values are escaped', () => {
  const evil = { a: 'x\u001b]0;t\u0007\r\u202ey\n\t', b: ['\u001b'] };
  expect(fillJsonPath('{.a}{.b}', evil)).toBe('x\\u001b]0;t\\u0007\\u000d\\u202ey\n\t["\\u001b"]');
});
