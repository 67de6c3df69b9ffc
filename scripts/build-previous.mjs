// Builds a revision of this repository, for tests of a handover from an older daemon:
//   node scripts/build-previous.mjs REVISION
// Prints the directory whose bin/stowage is that version. Reuses an earlier build.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { resolve } from 'node:path';

const [revision, ...more] = process.argv.slice(2);
if (revision === undefined || more.length > 0) {
  process.stderr.write('usage: node scripts/build-previous.mjs REVISION\n');
  process.exit(2);
}
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: Infinity });
const commit = git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`).trim();
const folder = resolve('node_modules/.cache/stowage/previous', commit);
if (!existsSync(folder)) {
  const partial = `${folder}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    execFileSync('tar', ['-x', '-C', partial], {
      input: execFileSync('git', ['archive', commit], { maxBuffer: Infinity }),
    });
    // Reuses the packages of this checkout if the lock files are equal.
    if (git('show', `${commit}:package-lock.json`) === git('show', 'HEAD:package-lock.json')) {
      await symlink(resolve('node_modules'), `${partial}/node_modules`);
    } else {
      execFileSync('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
        cwd: partial,
        stdio: ['ignore', 2, 2],
      });
    }
    execFileSync(process.execPath, ['scripts/build.mjs'], {
      cwd: partial,
      stdio: ['ignore', 2, 2],
    });
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}
process.stdout.write(`${folder}\n`);
