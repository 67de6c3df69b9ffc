import { refuse } from '../../api/reasons.ts';
import type { Refusal } from '../types.ts';
import type { Mount } from './types.ts';

interface Listed extends Mount {
  id: string;
  parent: string;
}

/**
 * Returns the mount of a path, by proc(5)'s mountinfo. Follows the kernel's path walk, from the
 * first mount into each mount on the way. A mount hidden by another one does not count, even if its
 * mount point is the deeper one. `path` has no symbolic links.
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
  // The first mount is its own parent, or has its parent outside of the mount namespace.
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

/** Decodes a space, tab, newline or backslash, which mountinfo writes as three octal digits. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );

/**
 * Refuses a mount that nodes cannot share; undefined if they can. NFS 3 and other file systems do
 * not state their guarantees for link(2) and locks. `soft` abandons a write and continues. With
 * `local_lock`, each node has locks of its own.
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
