import { dirname } from 'node:path';
import type { Plan } from '../types.ts';
import { ownerPath } from './names.ts';
import { lastOf, type Place } from './steps.ts';
import type { Holder, ReaderMark } from './types.ts';

type Refusal = Extract<Plan, { refusal: string }>;

/** The file is held for this node: whatever attempt did that, and also before the node was started anew. */
export function mine({ claim, shared }: Place, when?: 'this boot'): boolean {
  const says = lastOf(shared)?.says;
  if (says?.is !== 'held' || says.by.node !== claim.node) return false;
  return when === undefined || says.by.bootId === shared.bootId;
}

/** Paths of this node's marks. */
export const ownMarks = ({ claim, shared }: Place): string[] =>
  shared.marks.filter(({ node }) => node === claim.node).map(({ path }) => path);

/** Why nothing may be done while another node has the file. */
export function refuseOthers(place: Place): Refusal | undefined {
  const last = lastOf(place.shared);
  if (last === undefined || last.says.is === 'free') return undefined;
  if (last.says.is === 'unreadable') {
    const path = ownerPath(place.file, last.number);
    return {
      refusal: `${path} does not say who has ${place.file}: it was damaged, or another version of Stowage wrote it`,
      hint: `Until that is known, some node may have it attached. Once losetup -a of no node lists it, remove ${path}`,
      passing: true,
    };
  }
  const { by } = last.says;
  if (mine(place) || isDead(place, by)) return undefined;
  return {
    refusal: `${place.file} is held by node ${by.node}${last.since === undefined ? '' : ` since ${last.since}`}`,
    hint: `It is let go of there first, for which ${dirname(place.file)} must be mounted there, too. If ${by.node} is off and does not come back, say so by the out-of-service taint on its Node. Where it has none any more: make a Node of that name, with that taint.`,
    passing: true,
  };
}

/** Why nothing may be written while others read it. */
export function refuseReaders(place: Place): Refusal | undefined {
  const other = place.shared.marks.find((mark) => !isOwn(place, mark) && !isDead(place, mark.by));
  if (other === undefined) return undefined;
  return {
    refusal: `${place.file} is read on node ${other.node}`,
    hint: `It can be written to once it is attached nowhere any more. If ${other.node} is off and does not come back, say so by the out-of-service taint on its Node.`,
    passing: true,
  };
}

const isOwn = ({ claim }: Place, { node }: ReaderMark): boolean => node === claim.node;

/** The attempt that was found to be dead, and no other one of that node. */
function isDead({ claim }: Place, by: Holder | undefined): boolean {
  return (claim.takeOver ?? []).some(
    ({ node, bootId, token }) => node === by?.node && bootId === by.bootId && token === by.token,
  );
}
