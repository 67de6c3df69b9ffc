import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { copyCheckout } from '../support/checkout.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A copy of the checkout in which files are changed. The checkout itself never changes. */
export interface WorkingCopy {
  path: string;
  /** Directory for jest's cache and results, removed with the copy. */
  cache: string;
  write(file: string, text: string): Promise<void>;
  /** Bundles the sources of the copy into its dist/, which tests of the executable run. */
  build(): Promise<void>;
  /** Restores the dist/ of the unchanged sources. */
  restoreBuild(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Copies the files that git tracks or would track, in their current state. node_modules is shared.
 */
export async function createWorkingCopy(): Promise<WorkingCopy> {
  const folder = await temporaryDirectory('mutations');
  const path = join(folder.path, 'checkout');
  const cache = join(folder.path, 'cache');
  await mkdir(cache);
  await copyCheckout(path);
  await symlink(join(process.cwd(), 'node_modules'), join(path, 'node_modules'));
  const build = async () => {
    await execa('node', ['scripts/build.mjs'], { cwd: path });
  };
  await build();
  const built = join(folder.path, 'dist');
  await cp(join(path, 'dist'), built, { recursive: true });
  return {
    ...{ path, cache, build },
    async restoreBuild() {
      await rm(join(path, 'dist'), { recursive: true });
      await cp(built, join(path, 'dist'), { recursive: true });
    },
    write: (file, text) => writeFile(join(path, file), text),
    // A test killed at its time limit may still remove its files.
    remove: () => rm(folder.path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
