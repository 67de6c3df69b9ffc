import { dirname } from 'node:path';
import type { Refusal } from '../types.ts';
import { ownerPath } from './names.ts';
import { type FileLock, lastOf } from './steps.ts';
import type { NodeHold, ReaderMark } from './types.ts';

/** The file is held for this node: whatever attempt did that, and also before the node was started anew. */
export function mine({ owner, shared }: FileLock, when?: 'this boot'): boolean {
  const says = lastOf(shared)?.says;
  if (says?.is !== 'held' || says.by.node !== owner.node) return false;
  return when === undefined || says.by.bootId === shared.bootId;
}

/** Paths of this node's marks. */
export const ownMarks = ({ owner, shared }: FileLock): string[] =>
  shared.marks.filter(({ node }) => node === owner.node).map(({ path }) => path);

/** Why nothing may be done while another node has the file. */
export function refuseOthers(lock: FileLock): Refusal | undefined {
  const last = lastOf(lock.shared);
  if (last === undefined || last.says.is === 'free') return undefined;
  if (last.says.is === 'unreadable') {
    const path = ownerPath(lock.file, last.number);
    return {
      refusal: `${path} does not say who has ${lock.file}: it was damaged, or another version of Stowage wrote it`,
      hint: `Until that is known, some node may have it attached. Once losetup -a of no node lists it, remove ${path}`,
      retryable: true,
    };
  }
  const { by } = last.says;
  if (mine(lock) || isDead(lock, by)) return undefined;
  return {
    refusal: `${lock.file} is held by node ${by.node}${last.since === undefined ? '' : ` since ${last.since}`}`,
    hint: `It is let go of there first, for which ${dirname(lock.file)} must be mounted there, too. If ${by.node} is off and does not come back, say so by the out-of-service taint on its Node. Where it has none any more: make a Node of that name, with that taint.`,
    retryable: true,
  };
}

/** Why nothing may be written while others read it. */
export function refuseReaders(lock: FileLock): Refusal | undefined {
  const other = lock.shared.marks.find((mark) => !isOwn(lock, mark) && !isDead(lock, mark.by));
  if (other === undefined) return undefined;
  return {
    refusal: `${lock.file} is read on node ${other.node}`,
    hint: `It can be written to once it is attached nowhere any more. If ${other.node} is off and does not come back, say so by the out-of-service taint on its Node.`,
    retryable: true,
  };
}

const isOwn = ({ owner }: FileLock, { node }: ReaderMark): boolean => node === owner.node;

/** The attempt that was found to be dead, and no other one of that node. */
function isDead({ owner }: FileLock, by: NodeHold | undefined): boolean {
  return (owner.takeOver ?? []).some(
    ({ node, bootId, token }) => node === by?.node && bootId === by.bootId && token === by.token,
  );
}
