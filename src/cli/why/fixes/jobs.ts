import type { JOBS } from '../../../api/reasons/jobs.ts';
import { nodeOf } from '../../../model/desired-volume.ts';
import { TOOLS } from '../../../storage/node-check/tools.ts';
import { driverOfSpec } from '../../../storage/registry.ts';
import { onNode } from '../../lib/command-line.ts';
import type { Fixes } from './types.ts';

export const jobs: Fixes<typeof JOBS> = {
  ToolMissing({ program = '' }, { node }) {
    const from = TOOLS.find(({ name }) => name === program)?.package;
    return from === undefined
      ? { say: `Install ${program} on ${node}.` }
      : {
          say: `Install ${from} on the node; on others than Debian by its own command for that.`,
          run: [onNode(node, 'apt-get', 'install', '-y', from.split(' ')[0] ?? '')],
        };
  },

  NoSpaceLeft(_, { volume }) {
    const look = volume && driverOfSpec(volume.spec).roomCommand?.(volume.spec);
    return {
      say: `Make room, or create a smaller volume.${look === undefined ? '' : ' See what there is:'}`,
      ...(look && volume && { run: [onNode(nodeOf(volume), ...look)] }),
    };
  },
};
