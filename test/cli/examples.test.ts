import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { StowageError } from '../../src/api/errors.ts';
import { examplesOf } from '../../src/cli/lib/examples.ts';
import { SignalError } from '../../src/cli/lib/signals.ts';
import { manPages } from '../../src/cli/man/pages.ts';
import { createProgram } from '../../src/cli/program.ts';
import { run } from '../../src/cli/run.ts';
import { fakeIo, stowage } from '../support/fake-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { volumeNamed } from '../support/volumes.ts';

const leaves = (command: Command, path: string[] = []): [name: string, command: Command][] =>
  command.commands.length === 0
    ? [[path.join(' '), command]]
    : command.commands.flatMap((inner) => leaves(inner, [...path, inner.name()]));
const LEAVES = leaves(createProgram(fakeIo().io));

const LINES = LEAVES.flatMap(([name, command]) =>
  examplesOf(command)
    .filter((line) => !line.startsWith('#'))
    .map((line) => [line, name] as const),
);

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  folder = await temporaryDirectory('examples');
  const manifest = join(folder.path, 'volumes.yaml');
  await writeFile(manifest, JSON.stringify(volumeNamed('a')));
  await mkdir(join(folder.path, 'manifests'));
  await copyFile(manifest, join(folder.path, 'manifests', 'volumes.yaml'));
});
afterAll(() => folder.remove());

/** Returns the arguments of the command in a line, with files in the directory of the test. */
function argumentsOf(line: string): string[] {
  const [, command = ''] = /^(?:source <\()?stowage ([^>&)]*)/.exec(line) ?? [];
  const words = command.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words
    .map((word) => word.replaceAll("'", ''))
    .map((word, index) =>
      words[index - 1] === '-f' || words[index - 1] === '--kubeconfig-out'
        ? join(folder.path, word.replace(/^\/tmp\//, ''))
        : word,
    );
}

test.each(LEAVES)('%s has one to four examples', (_name, command) => {
  const lines = examplesOf(command).filter((line) => !line.startsWith('#'));
  expect(lines.length).toBeGreaterThanOrEqual(1);
  expect(lines.length).toBeLessThanOrEqual(4);
});

test.each(LINES)('`%s` is a command line of %s', async (line, name) => {
  const words = argumentsOf(line);
  // No line has the command of several kinds.
  const path = name
    .replace(/ manifest$/, ' -f')
    .replace(/ several$/, '')
    .split(' ');
  expect(words.slice(0, path.length)).toEqual(path);
  const { io, outcome } = fakeIo(
    // The server of sandbox runs until a signal.
    name === 'sandbox' ? { signal: AbortSignal.abort(new SignalError('SIGTERM')) } : {},
  );
  let connections = 0;
  const connect = () => {
    connections += 1;
    return Promise.reject(new StowageError('conflict', 'The test has no cluster'));
  };
  const code = await run(words, { ...io, connect });
  expect({ code, err: connections === 0 ? outcome.err : '' }).toEqual({
    code: connections === 0 ? 0 : 5,
    err: name === 'sandbox' ? expect.stringContaining('API server listens on') : '',
  });
});

test('help ends with the examples, and names the global options', async () => {
  const { out } = await stowage(['describe', 'node', '--help']);
  expect(out).toMatch(
    /\n\nExamples:\n {2}stowage describe node n1\n\nGlobal options: stowage --help\n$/,
  );
});

test.each(
  createProgram(fakeIo().io)
    .commands.filter(({ commands }) => commands.length > 0)
    .map((group) => group.name()),
)('help of %s has examples of its kinds, and names the global options', async (group) => {
  const { out } = await stowage([group, '--help']);
  const [, shown = '', after] = out.split(/\n\nExamples:\n|\n\n(?=Global)/);
  expect(after).toBe('Global options: stowage --help\n');
  const lines = shown.split('\n').map((line) => line.trim());
  const commands = lines.filter((line) => !line.startsWith('#'));
  expect(commands.length).toBeGreaterThanOrEqual(1);
  expect(commands.length).toBeLessThanOrEqual(2);
  for (const line of commands) expect(LINES).toContainEqual([line, expect.stringMatching(group)]);
  expect(out).toMatch(/^ {2}help \[.*\] +show help for a command$/m);
});

test('help and the manual page of the program have examples', async () => {
  const examples = examplesOf(createProgram(fakeIo().io));
  expect(examples).toEqual([
    '# A sparse file of 10 GiB',
    expect.stringMatching(/^stowage create volume /),
    'stowage why volume data1',
  ]);
  const { out } = await stowage(['--help']);
  expect(out).toMatch(/\n\nExamples:\n {2}# .*\n(?: {2}stowage .*\n){2}$/);
  expect(out).toMatch(/^ {2}help \[.*\] +show help for a command$/m);
  const page = manPages(createProgram(fakeIo().io)).get('stowage.1');
  expect(page).toContain(
    '.SH EXAMPLES\n.PP\nA sparse file of 10 GiB\n.RS 4\n.nf\nstowage create volume data1',
  );
});

test('a manual page has the examples', () => {
  const page = manPages(createProgram(fakeIo().io)).get('stowage-detach-volume.1');
  expect(page).toContain(
    '.SH EXAMPLES\n.PP\nWait until the Volume is detached\n.RS 4\n.nf\nstowage detach volume data1 \\-\\-node n1\n.fi\n.RE\n',
  );
});

test('the manual page of the program lists a command without repeating its name', () => {
  const page = manPages(createProgram(fakeIo().io)).get('stowage.1');
  expect(page).toContain('\nCreate the objects in manifests.\n');
  expect(page).not.toContain('the same as');
});
