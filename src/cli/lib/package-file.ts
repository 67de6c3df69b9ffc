import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Returns the text of a file of the package, by its path there. Throws if there is none. */
export async function readPackageFile(path: string): Promise<string> {
  // The package is the nearest directory above this program that has the file.
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const file = join(directory, path);
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere || directory === dirname(directory)) return readFile(file, 'utf8');
  }
}
