import type { Desired, Observed } from '../registry.ts';
import type { NodeHold } from './types.ts';

/**
 * Returns the owners and readers of a shared file on nodes other than `node`, by the files beside
 * it; none for other storage.
 */
export function holdersBeside(node: string, observed: Observed): NodeHold[] {
  const shared = 'shared' in observed ? observed.shared : undefined;
  return [
    ...(shared?.owners ?? []).flatMap(({ state }) => (state.is === 'held' ? state.by : [])),
    ...(shared?.marks ?? []).flatMap(({ by }) => by ?? []),
  ].filter((holder) => holder.node !== node);
}

/**
 * Returns the other holders whose machines `isOff` confirms to be off. Exactly their own records
 * may be superseded.
 */
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

/**
 * Permits superseding exactly the records of these holders, whose machines are confirmed to be off.
 */
export function takingOver(desired: Desired, dead: readonly NodeHold[]): Desired {
  if (dead.length === 0 || !('owner' in desired) || desired.owner === undefined) return desired;
  return { ...desired, owner: { ...desired.owner, takeOver: dead } };
}

/**
 * Replaces the attempt's token, which file names contain. Attempts that fail alike then have equal
 * messages, which are reported only once.
 */
export function withoutToken(message: string, desired: Desired): string {
  const token = 'owner' in desired ? desired.owner?.token : undefined;
  return token === undefined ? message : message.replaceAll(`-${token}`, '-*');
}
