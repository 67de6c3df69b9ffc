import { expect, test } from '@jest/globals';
import { type Arguments, parseArguments } from './arguments.ts';
import { UsageError } from './main.ts';

test.each<[args: string, Partial<Arguments>]>([
  [
    'checks unit integration',
    { stages: ['checks', 'unit', 'integration'], patterns: [], options: [] },
  ],
  ['integration sparse jobs', { stages: ['integration'], patterns: ['sparse', 'jobs'] }],
  ['integration sparse faults', { stages: ['integration'], patterns: ['sparse', 'faults'] }],
  ['thorough -- faults', { stages: ['thorough'], patterns: ['faults'] }],
  ['unit -- raw -t refuses', { stages: ['unit'], patterns: ['raw'], options: ['-t', 'refuses'] }],
  ['unit -- --bail', { stages: ['unit'], patterns: [], options: ['--bail'] }],
])('parses %s', (args, expected) => {
  expect(parseArguments(args.split(' '))).toMatchObject(expected);
});

test.each([
  ['', /there is no lane ''/],
  ['nosuch', /there is no lane 'nosuch', only checks, unit, integration/],
  ['toString', /there is no lane 'toString'/],
  ['unit nosuch -- a', /there is no lane 'nosuch'/],
  ['unit [', /Invalid regular expression/],
])('refuses %p', (args, message) => {
  const parse = () => parseArguments(args.split(' ').filter(Boolean));
  expect(parse).toThrow(message);
  expect(parse).toThrow(UsageError);
});
