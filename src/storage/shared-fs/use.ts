import { dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Refusal } from '../types.ts';
import { ownerPath } from './names.ts';
import { type FileLock, lastOf } from './steps.ts';
import type { NodeHold, ReaderMark } from './types.ts';

/** Reports whether this node holds the file, by any attempt; without `when`, by any boot. */
export function mine({ owner, shared }: FileLock, when?: 'this boot'): boolean {
  const state = lastOf(shared)?.state;
  if (state?.is !== 'held' || state.by.node !== owner.node) return false;
  return when === undefined || state.by.bootId === shared.bootId;
}

/** Returns the paths of this node's marks. */
export const ownMarks = ({ owner, shared }: FileLock): string[] =>
  shared.marks.filter(({ node }) => node === owner.node).map(({ path }) => path);

/** Refuses all work while another node holds the file. */
export function refuseOthers(lock: FileLock): Refusal | undefined {
  const last = lastOf(lock.shared);
  if (last === undefined || last.state.is === 'free') return undefined;
  if (last.state.is === 'unreadable') {
    const path = ownerPath(lock.file, last.number);
    return { ...refuse('OwnerUnreadable', { path, file: lock.file }), retryable: true };
  }
  const { by } = last.state;
  if (mine(lock) || isDead(lock, by)) return undefined;
  const refused = refuse('FileHeld', {
    file: lock.file,
    node: by.node,
    since: last.since,
    directory: dirname(lock.file),
  });
  return { ...refused, retryable: true };
}

/** Refuses writes while other nodes read the file. */
export function refuseReaders(lock: FileLock): Refusal | undefined {
  const other = lock.shared.marks.find((mark) => !isOwn(lock, mark) && !isDead(lock, mark.by));
  if (other === undefined) return undefined;
  return { ...refuse('FileRead', { file: lock.file, node: other.node }), retryable: true };
}

const isOwn = ({ owner }: FileLock, { node }: ReaderMark): boolean => node === owner.node;

/**
 * Reports whether this very attempt was found to be dead; other attempts of its node do not count.
 */
function isDead({ owner }: FileLock, by: NodeHold | undefined): boolean {
  return (owner.takeOver ?? []).some(
    ({ node, bootId, token }) => node === by?.node && bootId === by.bootId && token === by.token,
  );
}
