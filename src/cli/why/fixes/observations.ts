import type { OBSERVATIONS } from '../../../api/reasons/observations.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Fixes } from './types.ts';

export const observations: Fixes<typeof OBSERVATIONS> = {
  ProbeToolMissing: (_, { node }) =>
    node === ''
      ? undefined
      : {
          say: 'Install the tools that the check of the node lists as missing.',
          run: [commandLine('stowage', 'check', 'node', node)],
        },
};
