import type { FILES } from '../../../api/reasons/files.ts';
import { onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { FixContext, Fixes } from './types.ts';

const say = 'Put right what the message names.';

/** Returns the fix for an uncertain state on a node, for which the list of mounts is useful. */
export const putRight = (_: unknown, { node }: FixContext): Fix => ({
  say,
  run: [onNode(node, 'findmnt')],
});

export const files: Fixes<typeof FILES> = {
  MadeFileMissing: () => ({ say }),
  BackingFileMissing: () => ({ say }),
  LoopAttachedTwice: putRight,
  LoopFileMoved: putRight,
  LoopDetachPending: (_, { node }) => ({
    say: 'End what still uses the device there; it goes with its last user.',
    run: [onNode(node, 'losetup', '-l')],
  }),
};
