import { expect, test } from '@jest/globals';
import { asked } from '../../../src/cli/complete/parse-cursor.ts';
import { LISTED } from '../../../src/cli/complete/values.ts';
import { allCommands, optionsOf, pathOf } from '../../../src/cli/lib/command-tree.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { fakeIo } from '../../support/fake-io.ts';

const program = createProgram(fakeIo().io);
/** Returns the completion request of a line whose last word is incomplete. */
const ask = (line: string) => asked(program, line.split(' '));
const wordsOf = (line: string): string[] => {
  const { values, start } = ask(line);
  if (values === undefined || !('words' in values))
    throw new Error(`no words: ${JSON.stringify(values)}`);
  return values.words.map(({ word }) => word).filter((word) => word.startsWith(start));
};

test.each([
  ['cr', ['create']],
  ['get vol', ['volumes']],
  ['create ', ['volume', 'storageclass', 'snapshot', 'snapshotclass', 'backup']],
  ['-n prod get sn', ['snapshots', 'snapshotclasses']],
  ['get -n prod snapshots', ['snapshots']],
  ['get volumes,st', ['storageclasses']],
  ['create vol --no', ['--node', '--no-color']],
  ['create --fi', ['--filename']],
  ['watch --leader-election-n', ['--leader-election-namespace']],
  ['get volumes --kubec', ['--kubeconfig']],
  ['get volumes --hel', ['--help']],
  ['help get vol', ['volumes']],
  ['help g', ['get', 'grant']],
])('offers words for "%s"', (line, words) => {
  expect(wordsOf(line)).toEqual(words);
});

test.each<[string, object | undefined]>([
  ['delete volume a', { live: 'volumes' }],
  ['delete volume a b', { live: 'volumes' }],
  ['get vol -o json a', { live: 'volumes' }],
  ['get vol -wo json a', { live: 'volumes' }],
  ['get vol -o', { words: expect.anything() }],
  ['get vol -o j', { choices: ['json', 'yaml', 'name', 'wide'] }],
  ['get vol -wo j', { choices: ['json', 'yaml', 'name', 'wide'] }],
  ['get vol --output=j', { choices: ['json', 'yaml', 'name', 'wide'] }],
  ['create volume --node ', { live: 'nodes', list: true }],
  ['get vsclass ', { live: 'snapshot-classes' }],
  ['delete vsclass a ', { live: 'snapshot-classes' }],
  ['create volume a --size ', undefined],
  ['create volume ', undefined],
  ['detach volume a b', undefined],
  ['resize volume a', { live: 'volumes' }],
  ['resize volume a 2', undefined],
  ['create -f ', { files: true }],
  ['--kubeconfig ', { files: true }],
  ['completion ', { choices: ['bash', 'zsh', 'fish'] }],
  ['delete volume -- -', { live: 'volumes' }],
  ['why pvc ', { live: 'claims', anywhere: true }],
  ['why vol ', { live: 'volumes' }],
  ['why pvc a b', { live: 'claims', anywhere: true }],
  ['why pvc/a b', undefined],
  ['why v', { choices: expect.arrayContaining(['volume', 'pod', 'pvc', 'snapshot']) }],
  ['nonsense a', undefined],
  ['get nonsense a', undefined],
])('determines which values complete "%s"', (line, values) => {
  expect(ask(line).values).toEqual(values);
});

test.each([
  ['get volumes --node=n', '', 'n'],
  ['get volumes --node n1,n', 'n1,', 'n'],
  ['get volumes --node=n1,n2,', 'n1,n2,', ''],
  ['why pod/db/d', 'pod/', 'db/d'],
  ['delete volume a,b', '', 'a,b'],
  ['get volumes,sn', 'volumes,', 'sn'],
  ['delete volumes,sn', '', 'volumes,sn'],
])('splits the last word of "%s" into prefix and start', (line, prefix, start) => {
  expect(ask(line)).toMatchObject({ prefix, start });
});

test('reads options of the connection in each spelling', () => {
  expect(
    Object.fromEntries(ask('-nprod --context=c get --kubeconfig f snapshots --as=u a').given),
  ).toEqual({
    '--namespace': 'prod',
    '--context': 'c',
    '--kubeconfig': 'f',
    '--as': 'u',
  });
});

test('defines values only for options and arguments of existing commands', () => {
  const commands = allCommands(program);
  const options = commands.flatMap((command) =>
    optionsOf(command).flatMap(({ long }) => [long, `${pathOf(command)} ${long}`]),
  );
  expect(LISTED.options.filter((option) => !options.includes(option))).toEqual([]);
  expect(
    LISTED.arguments.filter((path) => !commands.some((command) => pathOf(command) === path)),
  ).toEqual([]);
});
