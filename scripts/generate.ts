/** Writes the checked-in generated files (`npm run generate`). A test fails if they are stale. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generated } from './generated.ts';

const files = generated();
for (const [path, content] of files) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
// Pages of removed commands.
for (const name of await readdir('man'))
  if (!files.has(join('man', name))) await rm(join('man', name));
