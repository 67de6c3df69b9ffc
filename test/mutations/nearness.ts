import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** The part that `sort` needs of jest's own type. */
interface TestFile {
  path: string;
  context: { config: { rootDir: string } };
}

/** Environment variable with the file whose tests run first. */
export const CHANGED_FILE = 'STOWAGE_CHANGED_FILE';
/**
 * Environment variable. If set, only those tests run that import the file or are in the directory
 * that mirrors its directory.
 */
export const NEAR_ONLY = 'STOWAGE_NEAR_ONLY';

/**
 * Returns the nearness of a test to a file, most important first. The test imports the file, its
 * directory mirrors the file's, it has the file's name, and the number of directories that the
 * paths share.
 */
export function nearness(
  test: string,
  imports: readonly string[],
  file: string,
): readonly number[] {
  const folder = dirname(file.replace(/^[^/]+\//, ''));
  const [, ...testFolders] = dirname(test).split('/');
  const shared = folder.split('/').findIndex((name, at) => name !== testFolders[at]);
  return [
    Number(imports.includes(file)),
    Number(testFolders.join('/') === folder),
    Number(basename(test).startsWith(`${basename(file, '.ts')}.`)),
    shared < 0 ? folder.split('/').length : shared,
  ];
}

/** Returns the files that a TypeScript file imports, relative to the checkout. */
export function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, name]) =>
    join(dirname(path), name as string),
  );
}

/** Chooses and orders jest's test files: nearest to the changed file first. */
export default class NearestFirst {
  sort(tests: readonly TestFile[], file = process.env[CHANGED_FILE] ?? ''): TestFile[] {
    return tests
      .map((test) => {
        const path = relative(test.context.config.rootDir, test.path);
        return {
          test,
          near: nearness(path, importsOf(path, readFileSync(test.path, 'utf8')), file),
        };
      })
      .filter(({ near: [imported, mirrored] }) => !process.env[NEAR_ONLY] || imported || mirrored)
      .sort((a, b) => {
        const at = a.near.findIndex((value, index) => value !== b.near[index]);
        return at < 0
          ? a.test.path < b.test.path
            ? -1
            : 1
          : (b.near[at] as number) - (a.near[at] as number);
      })
      .map(({ test }) => test);
  }

  allFailedTests(tests: readonly TestFile[]): readonly TestFile[] {
    return tests;
  }

  cacheResults(): void {}
}
