import type { StorageClass } from '../../../api/core.ts';
import type { CLAIMS } from '../../../api/reasons/claims.ts';
import { nameOf } from '../../../controllers/lib/capacity/refusal.ts';
import { dynamicClass, OVERWRITE_PARAMETER } from '../../../model/dynamic-class.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { Fixes } from './types.ts';

/** Fix for a feature gate that is off. */
export const GATE_ON: Fix = {
  say: 'Enable this feature gate of the daemon, or use a VolumeSnapshotLink for a snapshot (stowage restore snapshot creates one).',
  daemonFlags: ['--feature-gates', 'CrossNamespaceVolumeDataSource=true'],
};

export const MAKE_ROOM: Fix = {
  say: 'Free up space: delete claims and Volumes that are not needed. Or create this claim again with a smaller size. The commands list free and used space:',
  run: ['stowage get nodes', commandLine('stowage', 'get', 'volumes', '--sort-by', 'node')],
};

/** Fixes for events on claims, which tenants can forge: uses only the node of the context. */
export const claims: Fixes<typeof CLAIMS> = {
  GateOff: () => GATE_ON,
  NoRoom: () => MAKE_ROOM,
  NoRoomToGrow: (_, { node, storageClass }) => roomToGrow(node, storageClass),
  ConsentMissing: (_, { storageClass }) => storageClass && consent(storageClass),
  NodeDirectoryUnusable: (_, { node }) =>
    at(node, 'check', {
      say: 'Mount the file system of the directory of its class on that node, and add it to /etc/fstab. The claim then proceeds.',
    }),
  RoomUnknown: (_, { node }) =>
    at(node, 'check', {
      say: 'Fix what the check of the node reports. The claim proceeds once the free space there is known.',
    }),
  NodeNotReady: (_, { node }) =>
    at(node, 'why', { say: 'Bring the node back. The claim then proceeds.' }),
};

/**
 * Returns the fix for an expansion without room. Space promised to other Volumes counts as taken,
 * whether or not they use it.
 */
function roomToGrow(node: string, storageClass: StorageClass | undefined): Fix {
  const options = storageClass && dynamicClass(storageClass);
  const place =
    options === undefined || 'problem' in options ? 'that place' : nameOf(options.place);
  return {
    say: `Free up space in ${place}: delete claims and Volumes there that are not needed, or enlarge it. Space promised to other Volumes counts as taken; the command lists it. The expansion then continues.`,
    run: [
      node === ''
        ? commandLine('stowage', 'top', 'nodes')
        : commandLine('stowage', 'top', 'nodes', node),
    ],
  };
}

/** Adds a command for a node. Returns undefined if the node is unknown. */
const at = (node: string, verb: string, fix: Fix): Fix | undefined =>
  node === '' ? undefined : { ...fix, run: [commandLine('stowage', verb, 'node', node)] };

/** Returns the fix that replaces a class in one command, as its parameters are immutable. */
function consent({ metadata, parameters, ...rest }: StorageClass): Fix {
  const { name, labels, annotations } = metadata;
  const wanted = {
    ...rest,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    parameters: { ...parameters, [OVERWRITE_PARAMETER]: 'true' },
  };
  return {
    say: `If data of removed volumes in free extents of volume group ${parameters?.vgName} may be destroyed on all nodes, replace the class by one that consents. Existing volumes keep their data.`,
    run: [`${commandLine('printf', '%s', JSON.stringify(wanted))} | kubectl replace --force -f -`],
  };
}
