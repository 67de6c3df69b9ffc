import { writeSync } from 'node:fs';
import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { VERSION } from './api/version.ts';

/** Compiled code is kept in a folder of the user's own: the shared default is under /tmp, where others write. */
function cacheFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  const base = [XDG_CACHE_HOME, HOME && join(HOME, '.cache')].find(
    (path) => path && isAbsolute(path),
  );
  return base && join(base, 'stowage', 'compiled');
}

/** Says the version, and whether that could be written: what reads it may be gone. */
function sayVersion(): boolean {
  try {
    writeSync(process.stdout.fd, `${VERSION}\n`);
    return true;
  } catch {
    return false;
  }
}

const [option, ...more] = process.argv.slice(2);
// Scripts ask for it again and again; it needs nothing of the rest, not even the parser of the command line.
const done = option === '--version' && more.length === 0 && sayVersion();

const folder = done ? undefined : cacheFolder(process.env);
if (folder !== undefined) module.enableCompileCache(folder);

// Imported only now, so that it is loaded through the cache.
if (!done) void import('./cli/process.ts').then(({ runProcess }) => runProcess(process));
