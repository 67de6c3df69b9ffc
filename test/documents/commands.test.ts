import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { StowageError } from '../../src/api/errors.ts';
import { SignalError } from '../../src/cli/lib/signals.ts';
import { createProgram } from '../../src/cli/program.ts';
import { run } from '../../src/cli/run.ts';
import { pagePaths, readBlocks, readPage } from '../support/documents/page.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { volumeNamed } from '../support/volumes.ts';

/**
 * Parses the commands of every page with the program itself, without a cluster: an unknown flag or
 * kind fails. The stories of test/integration/docs.test.ts run the commands.
 */

/** Values for the placeholders of the pages. */
const VALUES: Record<string, string> = {
  KIND: 'volume',
  NAMESPACE: 'db',
  NS: 'db',
  NAME: 'data1',
  VOLUME: 'data1',
  N: 'n1',
  SELECTOR: 'app=db',
  'SHA256:…': `SHA256:${'A'.repeat(43)}`,
};
const PLACEHOLDER = /SHA256:…|\b[A-Z]+\b/g;

/** Files in the directory of the test, by their option. */
const FILES: Record<string, string> = {
  '-f': 'manifests.yaml',
  '--values': 'values.yaml',
  '--kubeconfig-out': 'kubeconfig',
};

/** Errors of a command line that only lacks arguments, as text names a command or one flag. */
const INCOMPLETE = /missing required argument|argument missing|error: missing: /;

/** Error of a known kind without a name. */
const NAMELESS = /^error: A name of a \w+ is required/;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  directory = await temporaryDirectory('commands');
  await writeFile(join(directory.path, 'manifests.yaml'), JSON.stringify(volumeNamed('a')));
});
afterAll(() => directory.remove());

/** Returns the stowage commands of a page. In `text` blocks, these follow `$ `. */
function commandsOf(path: string): string[] {
  const panes = readBlocks(path)
    .filter(({ language }) => language === 'text')
    .flatMap(({ body }) => [...body.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line));
  return [...new Set([...readPage(path).commands, ...panes])].filter(
    (line) => argumentsIn(line).length > 0,
  );
}

/** Returns the words after `stowage` in a command, up to a pipe, a redirection or `&`. */
function argumentsIn(line: string): string[] {
  // The first of alternative values stands for all.
  const [, text = ''] =
    /^(?:kubectl |sudo -u stowage )?stowage ((?:'[^']*'|[^|>&'])*)/.exec(
      line.replaceAll(/(=\w+)(?:\|\w+)+/g, '$1'),
    ) ?? [];
  const words = text.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words
    .filter((word) => word !== '…')
    .map((word) => word.replaceAll("'", '').replaceAll(PLACEHOLDER, (name) => VALUES[name] ?? name))
    .map((word, at, all) => {
      const file = FILES[all[at - 1] ?? ''];
      return file === undefined ? word : join('/DIRECTORY', file);
    });
}

/** Returns a command without its optional parts in brackets, then with each of them alone. */
function variantsOf(line: string): string[] {
  const optional = / \[([^\]]+)\]/g;
  const base = line.replaceAll(optional, '');
  const parts = [...line.matchAll(optional)].map(([, part = '']) => part.replace('...', ''));
  return [base, ...parts.map((part) => `${base} ${part}`)];
}

/** Returns the words that are no command, no flag of it and no value of a flag. */
function unknownIn(words: readonly string[]): string[] {
  let command: Command = createProgram(fakeIo().io);
  const options = [...command.options];
  let takesNext = false;
  return words.filter((word) => {
    if (takesNext) {
      takesNext = false;
      return false;
    }
    const inner = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word));
    const [flag] = word.split('=');
    const option = options.find(({ short, long }) => flag === short || flag === long);
    takesNext = option?.required === true && flag === word;
    if (inner === undefined) return option === undefined;
    command = inner;
    // `create -f` is a command of its own under `create`.
    options.push(...[inner, ...inner.commands].flatMap((each) => each.options));
    return false;
  });
}

/** Returns the error of a command line that is refused before the program connects. */
async function errorOf(words: readonly string[]): Promise<string> {
  const isServer = words[0] === 'sandbox';
  // The server of sandbox runs until a signal.
  const { io, outcome } = fakeIo(
    isServer ? { signal: AbortSignal.abort(new SignalError('SIGTERM')) } : {},
  );
  let connections = 0;
  const connect = () => {
    connections += 1;
    return Promise.reject(new StowageError('conflict', 'The test has no cluster'));
  };
  const real = words.map((word) => word.replace(/^\/DIRECTORY/, directory.path));
  const code = await run(real, { ...io, connect });
  if (code === 0 || connections > 0) return '';
  const { err } = outcome;
  const isIncomplete = INCOMPLETE.test(err) && unknownIn(words).length === 0;
  return isIncomplete || NAMELESS.test(err) ? '' : err;
}

describe.each(pagePaths())('%s', (path) => {
  const lines = commandsOf(path).flatMap(variantsOf);

  beforeAll(async () => {
    for (const file of readPage(path).files) {
      const [, name] = /^# (\S+\.yaml)\n/.exec(file) ?? [];
      if (name !== undefined) await writeFile(join(directory.path, name), file);
    }
  });

  test('its commands are command lines of the program', async () => {
    for (const line of lines)
      expect({ line, error: await errorOf(argumentsIn(line)) }).toEqual({ line, error: '' });
  });
});

test.each([
  'stowage get volumes --bogus',
  'stowage get things',
  'stowage why thing NAME',
  'stowage register populator --bogus',
  'stowage check bogus',
])('`%s` is refused', async (line) => {
  expect(await errorOf(argumentsIn(line))).not.toBe('');
});
