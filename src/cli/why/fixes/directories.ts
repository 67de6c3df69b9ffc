import type { DIRECTORIES } from '../../../api/reasons/directories.ts';
import { onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { FixContext, Fixes } from './types.ts';

const mount = (_: object, { node }: FixContext): Fix => ({
  say: `Mount the file system on ${node}, and add it to /etc/fstab for each boot. The command mounts what /etc/fstab lists.`,
  run: [onNode(node, 'mount', '-a')],
});

export const directories: Fixes<typeof DIRECTORIES> = {
  DirectoryNotMounted: mount,
  MountRequired: mount,
};
