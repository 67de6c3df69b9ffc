import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VERSION } from '../../src/api/version.ts';
import { createRepository, type Repository } from '../support/checkout.ts';
import { describeAsRoot } from '../support/root.ts';

/**
 * The release steps of CONTRIBUTING.md, in a copy of the checkout. Runs as root, to install
 * towncrier.
 */

const [MAJOR, MINOR] = VERSION.split('.').map(Number);
const NEXT = `${MAJOR}.${(MINOR ?? 0) + 1}.0`;

describeAsRoot('a release', () => {
  let repository: Repository;
  const read = (file: string) => readFileSync(join(repository.path, file), 'utf8');

  beforeAll(async () => {
    repository = await createRepository();
    await repository.run('sh', '-c', 'git rm --quiet --ignore-unmatch changes/*.*.md');
    for (const [name, text] of [
      ['b.added.md', 'An addition, which takes\ntwo lines.\n'],
      ['a.added.md', 'Another one.\n'],
      ['c.security.md', 'A hole is closed.\n'],
    ] as const)
      await writeFile(join(repository.path, 'changes', name), text);
    await repository.run('git', 'add', '--all');
    await repository.run('git', 'commit', '--quiet', '--message', 'change');
    await repository.run('npm', 'version', 'minor', '--message', 'release: cut %s');
  });
  afterAll(() => repository?.remove());

  test('has its notes first in the changelog, grouped by kind', () => {
    const [head = '', released = ''] = readFileSync('CHANGELOG.md', 'utf8').split(
      '<!-- releases -->\n',
    );
    // towncrier leaves two empty lines before the previous version.
    const written = read('CHANGELOG.md').replaceAll(/\n{3,}/g, '\n\n');
    const [, date = ''] = /\((\d{4}-\d\d-\d\d)\)/.exec(written) ?? [];
    expect(written).toBe(`${head}<!-- releases -->

## ${NEXT} (${date})

### Security

- A hole is closed.

### Added

- Another one.
- An addition, which takes
  two lines.

${released.trimStart()}`);
  });

  test('is one commit with a tag, and leaves no note behind', async () => {
    expect(await repository.run('git', 'log', '-1', '--format=%s %D')).toBe(
      `release: cut ${NEXT} HEAD -> main, tag: v${NEXT}`,
    );
    expect(await repository.run('git', 'status', '--porcelain')).toBe('');
    expect(await repository.run('ls', 'changes')).toBe('template.md');
  });

  test('replaces the previous version everywhere', async () => {
    const stood = await repository.run(
      'git',
      'grep',
      '-l',
      '-F',
      VERSION,
      'HEAD~',
      '--',
      ...PLACES,
    );
    const stands = await repository.run('git', 'grep', '-l', '-F', NEXT, 'HEAD', '--', ...PLACES);
    const files = (text: string) => text.split('\n').map((line) => line.replace(/^.*:/, ''));
    expect(files(stood).length).toBeGreaterThan(10);
    expect(files(stands)).toEqual(files(stood));
    const program = ['--import', './scripts/loaders/node.mjs', 'src/main.ts', '--version'];
    expect(await repository.run('node', ...program)).toBe(NEXT);
  });

  test('passes the tests that compare files with each other', async () => {
    await repository.run(
      'node',
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      ...['--selectProjects', 'unit', '--runTestsByPath'],
      ...['test/cli/program.test.ts', 'test/scripts/generated.test.ts'],
      'test/documents/changelog.test.ts',
    );
    await repository.run(
      'node',
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      ...['--selectProjects', 'integration', '--runTestsByPath', 'test/integration/docs.test.ts'],
      '--testNamePattern=stories cover exactly its commands and manifests',
    );
  });
});

/** Files with a version. Tests have their own versions. */
const PLACES = [
  'package.json',
  'package-lock.json',
  'src/api/version.ts',
  'deploy',
  'docs',
  'man',
  'completions',
];
