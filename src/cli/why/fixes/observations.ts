import type { OBSERVATIONS } from '../../../api/reasons/observations.ts';
import { LVM_PACKAGE } from '../../../storage/lvm/view.ts';
import { commandLine } from '../../lib/command-line.ts';
import { install } from './install.ts';
import type { Fixes } from './types.ts';

export const observations: Fixes<typeof OBSERVATIONS> = {
  ProbeToolMissing: ({ package: from }, { node }) =>
    node === ''
      ? undefined
      : from === LVM_PACKAGE
        ? install(LVM_PACKAGE, node)
        : {
            say: 'Install the tools that the check of the node lists as missing.',
            run: [commandLine('stowage', 'check', 'node', node)],
          },
};
