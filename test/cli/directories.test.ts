import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = 'src/cli';

/** Files of src/cli, with their imports from src/cli, including type and dynamic imports. */
const imports = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const imported = [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => !path.startsWith('..'));
    return { file, imported };
  });

/** Returns the directory of a file of src/cli, or '' for files of the program itself. */
const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '');

test('a feature directory imports only lib and itself; lib imports only itself', () => {
  const wrong = imports.flatMap(({ file, imported }) => {
    const own = folderOf(file);
    if (own === '' || own === 'commands') return [];
    return imported
      .filter((path) => ![own, 'lib'].includes(folderOf(path)))
      .map((path) => `${file} imports ${path}`);
  });
  expect(wrong).toEqual([]);
});
