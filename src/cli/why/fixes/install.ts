import { onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';

/**
 * Returns the fix that installs a package on a node.
 * @param from name of the package, of Stowage's own list: it is part of a command
 */
export const install = (from: string, node: string): Fix => ({
  say: `Install ${from} on the node. Other distributions than Debian have another command.`,
  run: [onNode(node, 'apt-get', 'install', '-y', from.split(' ')[0] ?? '')],
});
