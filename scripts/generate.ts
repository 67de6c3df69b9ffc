/** Writes the files that are made from the code and checked in: `npm run generate`. A test fails when they are stale. */
import { writeFile } from 'node:fs/promises';
import { generated } from './generated.ts';

for (const [path, content] of generated()) await writeFile(path, content);
