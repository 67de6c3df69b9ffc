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

test('the page imports only src/api and itself, and the program only its protocol', () => {
  const page = readdirSync('src/ui', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  expect(page).toContain('main.tsx');
  const importsOf = (path: string) =>
    [...readFileSync(path, 'utf8').matchAll(/(?:from|import\() ?'([^']+)'/g)].map(
      ([, imported = '']) => imported,
    );
  const allowed = /^(ui\/(actions\/)?[\w-]+\.tsx?|api\/[\w-]+\.ts|preact(\/hooks)?)$/;
  const resolved = (file: string, path: string) =>
    path.startsWith('.') ? join('ui', dirname(file), path) : path;
  expect(
    page.flatMap((file) =>
      importsOf(join('src/ui', file)).filter((path) => !allowed.test(resolved(file, path))),
    ),
  ).toEqual([]);
  const used = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('ui/'))
    .flatMap((file) => importsOf(join('src', file)).map((path) => join(dirname(file), path)))
    .filter((path) => path.startsWith('ui/'));
  expect([...new Set(used)]).toEqual(['ui/protocol.ts']);
});
