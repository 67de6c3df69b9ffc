import type { Mount } from './types.ts';

/**
 * The mount that a path is on, by proc(5)'s mountinfo: of those whose mount point leads to it the deepest, and of several
 * at one point the last. `path` is one without symbolic links.
 */
export function mountOf(path: string, mountinfo: string): Mount | undefined {
  let found: Mount | undefined;
  for (const line of mountinfo.split('\n')) {
    const [, , , , escaped, options, ...rest] = line.split(' ');
    const dash = rest.indexOf('-');
    const [type, , superOptions = ''] = rest.slice(dash + 1);
    if (escaped === undefined || options === undefined || dash < 0 || type === undefined) continue;
    const point = unescaped(escaped);
    if (path !== point && !path.startsWith(point === '/' ? '/' : `${point}/`)) continue;
    if (found !== undefined && point.length < found.point.length) continue;
    const own = superOptions.split(',');
    found = {
      point,
      type,
      readOnly: options.split(',').includes('ro') || own.includes('ro'),
      options: own,
    };
  }
  return found;
}

/** A space, tab, newline or backslash is three octal digits there. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** What a shared directory must be on. */
const WANTED = 'an NFS 4 mount with the options rw, hard and local_lock=none';

/**
 * Why several nodes may not share what is on a mount; undefined where they may. One of NFS 3 or of another file system
 * does not say what link(2) and locks are worth on it; `soft` gives up a write and goes on; with `local_lock` each node has
 * locks of its own.
 */
export function refuseMount(directory: string, mount: Mount | undefined): string | undefined {
  if (mount === undefined) return `${directory} is on no mount that the node lists: wanted is ${WANTED}`;
  const wrong = faultOf(mount);
  return wrong && `${directory} is on ${mount.point}, which is ${wrong}: wanted is ${WANTED}`;
}

function faultOf({ type, readOnly, options }: Mount): string | undefined {
  if (type !== 'nfs4') return `of type ${type}`;
  if (readOnly) return 'mounted ro';
  if (!options.includes('hard')) {
    return `mounted ${options.find((option) => option.startsWith('soft')) ?? 'without hard'}`;
  }
  if (options.includes('local_lock=none')) return undefined;
  return `mounted ${options.find((option) => option.startsWith('local_lock=')) ?? 'without local_lock=none'}`;
}
