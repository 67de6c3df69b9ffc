import { writeSync } from 'node:fs';
import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { VERSION } from './api/version.ts';

/** Returns the user's directory for compiled code: the default is in /tmp, where others write. */
function cacheDirectory({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  const base = [XDG_CACHE_HOME, HOME && join(HOME, '.cache')].find(
    (path) => path && isAbsolute(path),
  );
  return base && join(base, 'stowage', 'compiled');
}

/** Prints the version. Returns whether that succeeded: the reader may be gone. */
function printVersion(): boolean {
  try {
    writeSync(process.stdout.fd, `${VERSION}\n`);
    return true;
  } catch {
    return false;
  }
}

const [option, ...more] = process.argv.slice(2);
// Scripts request the version often: nothing else is loaded, not even the command-line parser.
const done = option === '--version' && more.length === 0 && printVersion();

const directory = done ? undefined : cacheDirectory(process.env);
if (directory !== undefined) module.enableCompileCache(directory);

// Imported late, so that it is loaded through the cache.
if (!done) void import('./cli/process.ts').then(({ runProcess }) => runProcess(process));
