import { refuse } from '../../api/reasons.ts';
import type { Refusal } from '../types.ts';
import type { Mount } from './types.ts';

interface Listed extends Mount {
  id: string;
  parent: string;
}

/**
 * Returns the mount that a path is on, by proc(5)'s mountinfo, as the kernel walks the path: from the first mount into each that is
 * mounted on the way. So a mount that another one hides does not count, although its mount point may be the deeper one.
 * `path` is one without symbolic links.
 */
export function mountOf(path: string, mountinfo: string): Mount | undefined {
  const above = mountinfo.split('\n').flatMap((line) => {
    const mount = parse(line);
    const { point } = mount ?? {};
    const isAbove = point === '/' || path === point || path.startsWith(`${point}/`);
    return mount !== undefined && isAbove ? [mount] : [];
  });
  const nearest = (mounts: readonly Listed[]): Listed | undefined =>
    mounts.toSorted((a, b) => a.point.length - b.point.length)[0];
  // The first one has itself as its parent, or what is outside of a mount namespace.
  let found = nearest(
    above.filter(({ id, parent }) => id === parent || !above.some((each) => each.id === parent)),
  );
  for (let next = found; next !== undefined; ) {
    found = next;
    const { id } = found;
    next = nearest(above.filter((each) => each.parent === id && each.id !== id));
  }
  if (found === undefined) return undefined;
  const { id: _, parent: __, ...mount } = found;
  return mount;
}

function parse(line: string): Listed | undefined {
  const [id = '', parent = '', device, root, escaped, options, ...rest] = line.split(' ');
  const dash = rest.indexOf('-');
  const [type, source = '', superOptions = ''] = rest.slice(dash + 1);
  if (device === undefined || root === undefined || escaped === undefined) return undefined;
  if (options === undefined || dash < 0 || type === undefined) return undefined;
  const own = superOptions.split(',');
  return {
    ...{ id, parent, point: unescaped(escaped), type },
    ...{ source: unescaped(source), device, root: unescaped(root) },
    readOnly: options.split(',').includes('ro') || own.includes('ro'),
    options: own,
  };
}

/** A space, tab, newline or backslash is three octal digits there. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

/**
 * Why several nodes may not share what is on a mount; undefined where they may. One of NFS 3 or of another file system
 * does not say what link(2) and locks are worth on it; `soft` gives up a write and goes on; with `local_lock` each node has
 * locks of its own.
 */
export function refuseMount(directory: string, mount: Mount | undefined): Refusal | undefined {
  if (mount === undefined)
    return { ...refuse('SharedMountMissing', { directory }), retryable: true };
  const fault = faultOf(mount);
  if (fault === undefined) return undefined;
  const refused = refuse('SharedMountUnfit', { directory, mountPoint: mount.point, ...fault });
  return { ...refused, retryable: true };
}

function faultOf({ type, readOnly, options }: Mount) {
  if (type !== 'nfs4') return { type };
  if (readOnly) return { option: 'ro' };
  if (!options.includes('hard')) {
    return { option: options.find((option) => option.startsWith('soft')) ?? 'without hard' };
  }
  if (options.includes('local_lock=none')) return undefined;
  const lock = options.find((option) => option.startsWith('local_lock='));
  return { option: lock ?? 'without local_lock=none' };
}
