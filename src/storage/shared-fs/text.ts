import { isHolder } from './names.ts';
import type { NodeHold, OwnerFile } from './types.ts';

/**
 * Returns the content of an owner file or a mark: one line of JSON, identical for the same meaning.
 */
export const textOf = (is: 'held' | 'free', { node, bootId, token }: NodeHold): string =>
  JSON.stringify({ version: 1, ...(is === 'free' ? { free: true } : {}), node, bootId, token });

/** Parses only the exact output of `textOf`; any other text is unreadable. */
export function readText(text: string): OwnerFile['state'] {
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
