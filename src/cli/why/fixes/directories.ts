import type { DIRECTORIES } from '../../../api/reasons/directories.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { FixContext, Fixes } from './types.ts';

/** @param record file that names the file system of the directory, if known */
export const mount = ({ record }: { record?: string }, { node }: FixContext): Fix => ({
  say: `Mount the file system on ${node}, and add it to /etc/fstab for each boot. The command mounts what /etc/fstab lists.${record === undefined ? '' : ` Only if the directory moves to another file system permanently, remove the record on the node instead: ${commandLine('rm', record)}`}`,
  run: [onNode(node, 'mount', '-a')],
});

export const directories: Fixes<typeof DIRECTORIES> = {
  DirectoryNotMounted: mount,
  MountRequired: (_, context) => mount({}, context),
};
