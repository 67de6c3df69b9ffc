import { isHolder } from './names.ts';
import type { NodeHold, OwnerFile } from './types.ts';

/** What an owner file or a mark holds: one line of JSON, which is the same for the same meaning. */
export const textOf = (is: 'held' | 'free', { node, bootId, token }: NodeHold): string =>
  JSON.stringify({ version: 1, ...(is === 'free' ? { free: true } : {}), node, bootId, token });

/** Only what `textOf` prints is believed, letter by letter; all else is unreadable. */
export function readText(text: string): OwnerFile['says'] {
  try {
    const { node, bootId, token, free } = JSON.parse(text) as Partial<NodeHold> & {
      free?: unknown;
    };
    const by = { node: String(node), bootId: String(bootId), token: String(token) };
    const is = free === true ? 'free' : 'held';
    if (isHolder(by) && textOf(is, by) === text) return { is, by };
  } catch {} // Neither JSON nor an object.
  return { is: 'unreadable' };
}
