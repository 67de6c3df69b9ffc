import type { JOBS } from '../../../api/reasons/jobs.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { TOOLS } from '../../../storage/node-check/tools.ts';
import { driverOfSpec } from '../../../storage/registry.ts';
import { onNode } from '../../lib/command-line.ts';
import { install } from './install.ts';
import { makeLarger } from './larger.ts';
import type { Fixes } from './types.ts';

export const jobs: Fixes<typeof JOBS> = {
  ToolMissing({ program = '' }, { node }) {
    const from = TOOLS.find(({ name }) => name === program)?.package;
    return from === undefined ? { say: `Install ${program} on ${node}.` } : install(from, node);
  },

  NoSpaceLeft(_, { volume }) {
    const command = volume && driverOfSpec(volume.spec).roomCommand?.(volume.spec);
    return {
      say: `Free up space, or create a smaller volume.${command === undefined ? '' : ' The command shows the free space.'}`,
      ...(command && volume && { run: [onNode(nodeOf(volume), ...command)] }),
    };
  },

  VolumeTooSmall: (_, context) => makeLarger(undefined, undefined, context),
};
