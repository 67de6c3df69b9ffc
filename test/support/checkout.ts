import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { temporaryDirectory } from './temporary-directory.ts';

/** Copies the files of the checkout that git tracks or would track, as they are now. */
export async function copyCheckout(to: string): Promise<void> {
  const { stdout } = await execa('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ]);
  for (const file of new Set(stdout.split('\0'))) {
    if (file !== '') await cp(file, join(to, file), { force: false }).catch(ignoreRemoved);
  }
}

/** git also lists tracked files that were removed from the checkout. */
function ignoreRemoved(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

export interface Repository {
  path: string;
  /** Runs a program in the repository and returns its output. Rejects if it fails. */
  run(program: string, ...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Creates a repository with one commit: the checkout in its current state. Its packages are hard
 * links if possible. Through a symbolic link, programs in them would also find the files of the
 * checkout.
 */
export async function createRepository(): Promise<Repository> {
  const folder = await temporaryDirectory('repository');
  const path = join(folder.path, 'checkout');
  const packages = join(path, 'node_modules');
  const env = {
    PATH: `${join(packages, '.bin')}:${process.env.PATH}`,
    NODE_OPTIONS: '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...identity('AUTHOR'),
    ...identity('COMMITTER'),
  };
  const run = async (program: string, ...args: readonly string[]) => {
    const { all } = await execa(program, args, { cwd: path, env, all: true, stdin: 'ignore' });
    return all;
  };
  await copyCheckout(path);
  await execa('cp', ['-al', 'node_modules', path]).catch(async () => {
    await rm(packages, { recursive: true, force: true });
    await execa('cp', ['-a', 'node_modules', path]);
  });
  await rm(join(packages, '.cache'), { recursive: true, force: true });
  await run('git', 'init', '--quiet', '--initial-branch', 'main');
  await run('git', 'add', '--all');
  await run('git', 'commit', '--quiet', '--message', 'copy');
  return { path, run, remove: folder.remove };
}

const identity = (role: string) => ({
  [`GIT_${role}_NAME`]: 'test',
  [`GIT_${role}_EMAIL`]: 'test@example.com',
});
