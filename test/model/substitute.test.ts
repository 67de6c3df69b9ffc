import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/api/meta.ts';
import { SubstitutionError, substitute } from '../../src/model/substitute.ts';

const source = {
  apiVersion: 'hello.example.com/v1alpha1',
  kind: 'Hello',
  metadata: { name: 'example', namespace: 'default', labels: { 'my-label': 'x' } },
  spec: {
    fileName: 'a b; rm -rf /',
    empty: '',
    count: 3,
    on: false,
    secret: '$(TOKEN)',
    dollars: 'a$$b$',
    list: ['x'],
    nothing: null,
    nul: 'a\0b',
    long: 'x'.repeat(200 << 10),
    nested: { field: '{.spec.secret}' },
  },
} as unknown as KubeObject;

describe('fields of the data source in an argument', () => {
  test.each([
    ['--file={.spec.fileName}', '--file=a b; rm -rf /'],
    ['{.metadata.namespace}/{.metadata.name}', 'default/example'],
    ['{.metadata.labels.my-label}', 'x'],
    ['{.spec.count}{.spec.on}[{.spec.empty}]', '3false[]'],
    // Without the second dollar, the kubelet would substitute a variable, which may be a secret.
    ['{.spec.secret}', '$$(TOKEN)'],
    ['{.spec.dollars}', 'a$$$$b$$'],
    // Values of fields are not substituted again.
    ['{.spec.nested.field}', '{.spec.secret}'],
    ['$(HOME) {} {spec} {. } {.}', '$(HOME) {} {spec} {. } {.}'],
  ])('expand %j to %j', (template, result) => {
    expect(substitute(template, source)).toBe(result);
  });

  test.each([
    ['{.spec.missing}', 'no field .spec.missing'],
    ['{.spec.fileName.length}', 'no field .spec.fileName.length'],
    ['{.spec.toString}', 'no field .spec.toString'],
    ['{.spec.__proto__.x}', 'no field'],
    ['{.spec.list}', 'is not a string, number or boolean'],
    ['{.spec.nothing}', 'is not a string'],
    ['{.spec}', 'is not a string'],
    ['{.spec.nul}', 'contains a NUL'],
    ['{.spec.long}', 'exceed the maximum length of an argument'],
    // Otherwise `(TOKEN)` in a field would become a variable.
    [`$${'{'}.spec.fileName}`, "a '$' right before a field"],
  ])('are refused in %j', (template, why) => {
    expect(() => substitute(template, source)).toThrow(SubstitutionError);
    expect(() => substitute(template, source)).toThrow(why);
  });
});
