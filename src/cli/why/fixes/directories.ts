import type { DIRECTORIES } from '../../../api/reasons/directories.ts';
import { onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { FixContext, Fixes } from './types.ts';

const mount = (_: object, { node }: FixContext): Fix => ({
  say: `Mount it on ${node}, and have /etc/fstab mount it at each boot. This mounts what is there already:`,
  run: [onNode(node, 'mount', '-a')],
});

export const directories: Fixes<typeof DIRECTORIES> = {
  DirectoryNotMounted: mount,
  MountRequired: mount,
};
