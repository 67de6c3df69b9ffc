import { LVM } from '../../../api/reasons/lvm.ts';
import { fill } from '../../../api/reasons/template.ts';
import { FREE_EXTENTS } from '../../../storage/lvm/content.ts';
import { LVM_PACKAGE } from '../../../storage/lvm/view.ts';
import { driverOfSpec } from '../../../storage/registry.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import { consent } from './consent.ts';
import { endUse } from './devices.ts';
import { install } from './install.ts';
import type { FixContext, Fixes } from './types.ts';

function makeRoom(_: object, { node, volume }: FixContext): Fix {
  const command = volume && driverOfSpec(volume.spec).roomCommand?.(volume.spec);
  return {
    say: `Free up space (remove volumes, or extend the volume group or the pool), or create a smaller volume.${command === undefined ? '' : ' The command shows the free space.'}`,
    ...(command && { run: [onNode(node, ...command)] }),
  };
}

export const lvm: Fixes<typeof LVM> = {
  LVMMissing: (_, { node }) => (node === '' ? undefined : install(LVM_PACKAGE, node)),
  VolumeGroupFull: makeRoom,
  FreeExtentsCarryData: ({ content }, context) => consent(content, context),
  // The action names the way that keeps the data.
  FreeExtentsAmbivalent: (parameters, context) => ({
    ...consent(FREE_EXTENTS, context),
    say: fill(LVM.FreeExtentsAmbivalent.action, parameters),
  }),
  ThinPoolFull: makeRoom,
  ThinPoolFullToFill: makeRoom,
  ThinPoolRoomGone: makeRoom,
  // The retry follows as a command.
  LogicalVolumeUnrecorded: ({ volume }) =>
    volume === undefined
      ? undefined
      : { say: `If it holds no data, remove it on the node: ${commandLine('lvremove', volume)}.` },
  UnfinishedInUse: endUse,
  LogicalVolumeInUse: endUse,
};
