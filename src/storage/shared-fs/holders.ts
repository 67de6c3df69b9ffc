import type { Desired, Observed } from '../registry.ts';
import type { NodeHold } from './types.ts';

/** Who else than that node has a shared file, or reads it, by what stands beside it; nobody, of any other storage. */
export function holdersBeside(node: string, observed: Observed): NodeHold[] {
  const shared = 'shared' in observed ? observed.shared : undefined;
  return [
    ...(shared?.owners ?? []).flatMap(({ says }) => (says.is === 'held' ? says.by : [])),
    ...(shared?.marks ?? []).flatMap(({ by }) => by ?? []),
  ].filter((holder) => holder.node !== node);
}

/** Returns the other holders whose machines are off, of which `isOff` is sure: exactly what these wrote may be superseded. */
export async function deadHoldersBeside(
  node: string,
  observed: Observed,
  isOff: (node: string) => Promise<boolean>,
): Promise<NodeHold[]> {
  const dead: NodeHold[] = [];
  for (const holder of holdersBeside(node, observed))
    if (await isOff(holder.node)) dead.push(holder);
  return dead;
}

/** With leave to supersede exactly what these wrote: somebody vouches that their machines are off. */
export function takingOver(desired: Desired, dead: readonly NodeHold[]): Desired {
  if (dead.length === 0 || !('owner' in desired) || desired.owner === undefined) return desired;
  return { ...desired, owner: { ...desired.owner, takeOver: dead } };
}

/**
 * Names of files have the token of the attempt. Tries that fail alike are to say so in the same words, or each of them is
 * told and written anew.
 */
export function withoutToken(message: string, desired: Desired): string {
  const token = 'owner' in desired ? desired.owner?.token : undefined;
  return token === undefined ? message : message.replaceAll(`-${token}`, '-*');
}
