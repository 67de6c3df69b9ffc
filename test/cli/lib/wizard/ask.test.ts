import { expect, test } from '@jest/globals';
import { Command, Option } from 'commander';
import { objectName, oneText } from '../../../../src/cli/lib/parse.ts';
import { complete, orOther, type Question } from '../../../../src/cli/lib/wizard/ask.ts';
import { fakeIo, type World } from '../../../support/fake-io.ts';

interface Answers {
  name?: string;
  diskType?: string;
  policy?: string;
  size?: string;
  arg?: string[];
  default?: boolean;
  path?: string;
  own?: string;
}

const several = (text: string, before: string[] = []) => [...before, text];
const command = new Command()
  .argument('[name]', '', objectName)
  .addOption(new Option('--disk-type <type>').choices(['file', 'disk']))
  .addOption(new Option('--policy <policy>').choices(['Always', 'Never']))
  .option('--size <size>', '', oneText)
  .option('--arg <text>', '', several)
  .option('--default')
  .option('--path <path>', '', oneText);

/** Asks the questions, with `live` as the source of choices. */
async function asked(
  questions: readonly Question<Answers, string[]>[],
  given: Answers,
  answers: World['answers'],
  live: string[] = [],
) {
  const { io, outcome } = fakeIo({ tty: true, ...(answers && { answers }) });
  const result = await complete<Answers, 'name', string[]>(questions, given, {
    ...{ command, io },
    live: () => live,
  });
  return { ...result, questions: outcome.questions, choices: outcome.choices };
}

const NAME = { of: 'name', message: 'Name:', needed: true } as const;

test('asks again for an answer that the parser of the option refuses', async () => {
  const { answers, questions } = await asked([NAME], {}, ['A_B', '', 'ab']);
  expect(answers).toEqual({ name: 'ab' });
  expect(questions).toEqual(['Name:', 'Name:', 'Name:']);
});

test('asks again for an answer that is empty or that the question refuses', async () => {
  const size: Question<Answers> = {
    of: 'size',
    message: 'Size:',
    problem: (text) => (text === '1' ? 'too small' : undefined),
  };
  const { answers } = await asked([NAME, size], {}, ['a', '', '1', '2']);
  expect(answers).toEqual({ name: 'a', size: '2' });
});

test('offers the choices of the option under the names of the question', async () => {
  const { answers, choices } = await asked(
    [
      NAME,
      { of: 'diskType', message: 'Type:', names: { disk: 'a disk' } },
      { of: 'policy', message: 'Policy:', names: { '': 'as it is' }, none: true },
    ],
    {},
    ['a', 'file', ''],
  );
  expect(answers).toEqual({ name: 'a', diskType: 'file' });
  expect(choices).toEqual([
    ['a disk', 'file'],
    ['as it is', 'Always', 'Never'],
  ]);
});

test.each<[string, string[], string[], string[]]>([
  ['chosen', ['/a'], ['/a'], ['Path:']],
  ['typed instead', ['/a'], ['', '/b'], ['Path:', 'Another path:']],
  ['typed if there are no choices', [], ['/b'], ['Another path:']],
])('a value with live choices can be %s', async (_, live, answers, wanted) => {
  const path: Question<Answers, string[]> = {
    of: 'path',
    message: 'Path:',
    needed: true,
    choices: async (_, names) => orOther(names.map((name) => ({ name, value: name }))),
    typed: 'Another path:',
  };
  const { questions, ...result } = await asked([path], {}, answers, live);
  expect(result.answers).toEqual({ path: answers.at(-1) });
  expect(questions).toEqual(wanted);
});

test('asks yes or no for a switch, and repeats the question of a repeatable option', async () => {
  const { answers, questions } = await asked(
    [
      NAME,
      { of: 'default', message: 'Default?' },
      { of: 'arg', message: 'Argument:', none: true, again: 'Next:' },
    ],
    {},
    ['a', false, 'x', 'y', ''],
  );
  expect(answers).toEqual({ name: 'a', default: false, arg: ['x', 'y'] });
  expect(questions).toEqual(['Name:', 'Default?', 'Argument:', 'Next:', 'Next:']);
});

test('asks only for missing values, depending on earlier answers', async () => {
  const { answers, questions } = await asked(
    [
      { of: 'own', message: 'Own:', take: (own) => ({ own, size: '1' }) },
      { of: 'size', message: 'Size:' },
      { of: 'path', message: ({ own }) => `Path of ${own}:`, when: ({ own }) => own === 'o' },
      { of: 'arg', message: 'Argument:', when: (_, { own }) => own !== undefined },
      NAME,
    ],
    { policy: 'Never' },
    ['o', '/p', 'a'],
  );
  expect(answers).toEqual({ policy: 'Never', own: 'o', size: '1', path: '/p', name: 'a' });
  expect(questions).toEqual(['Own:', 'Path of o:', 'Name:']);
});

test('asks nothing if no required value is missing', async () => {
  const size: Question<Answers> = { of: 'size', message: 'Size:' };
  expect(await asked([NAME, size], { name: 'a' }, [])).toMatchObject({
    ...{ answers: { name: 'a' }, asked: false },
    questions: [],
  });
});

test('names missing values as flags if it cannot prompt, the argument first', async () => {
  const { io } = fakeIo();
  const questions: Question<Answers>[] = [
    { of: 'diskType', message: 'Type:', needed: true },
    { of: 'size', message: 'Size:', needed: true, when: ({ diskType }) => diskType !== undefined },
    NAME,
    { of: 'path', message: 'Path:', needed: '--path or --vg' },
  ];
  const live = () => undefined;
  const hint = (lacking: readonly string[]) => lacking.at(-1);
  await expect(complete(questions, {}, { command, io, live, hint })).rejects.toMatchObject({
    code: 'usage',
    message: 'missing: NAME, --disk-type, --path or --vg',
    hint: '--path or --vg',
  });
});
