import module from 'node:module';
import { isAbsolute, join } from 'node:path';

/** Compiled code is kept in a folder of the user's own: the shared default is under /tmp, where others write. */
function cacheFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  const base = [XDG_CACHE_HOME, HOME && join(HOME, '.cache')].find((path) => path && isAbsolute(path));
  return base && join(base, 'stowage', 'compiled');
}

const folder = cacheFolder(process.env);
if (folder !== undefined) module.enableCompileCache(folder);

// Imported only now, so that it is loaded through the cache.
void import('./cli/process.ts').then(({ runProcess }) => runProcess(process));
