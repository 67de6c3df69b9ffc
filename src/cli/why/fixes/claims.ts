import type { StorageClass } from '../../../api/core.ts';
import type { CLAIMS } from '../../../api/reasons/claims.ts';
import { OVERWRITE_PARAMETER } from '../../../model/dynamic-class.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { Fixes } from './types.ts';

/** Fix for a feature gate that is off. */
export const GATE_ON: Fix = {
  say: 'Have the daemon run with this gate on; a VolumeSnapshotLink needs none, for a snapshot.',
  daemonFlags: ['--feature-gates', 'CrossNamespaceVolumeDataSource=true'],
};

export const MAKE_ROOM: Fix = {
  say: 'Make room there: delete claims and Volumes that nobody needs. Or delete this one, and ask for less. See where there is room, and what takes it:',
  run: ['stowage get nodes', commandLine('stowage', 'get', 'volumes', '--sort-by', 'node')],
};

/** Fixes for events on claims, which tenants can forge: uses only the node of the context. */
export const claims: Fixes<typeof CLAIMS> = {
  GateOff: () => GATE_ON,
  NoRoom: () => MAKE_ROOM,
  ConsentMissing: (_, { storageClass }) => storageClass && consent(storageClass),
  NodeDirectoryUnusable: (_, { node }) =>
    at(node, 'check', {
      say: 'Mount the file system of the directory of its class on that node, and have /etc/fstab mount it at each boot. The claim goes on by itself.',
    }),
  RoomUnknown: (_, { node }) =>
    at(node, 'check', {
      say: 'Put right what the message names: the claim goes on once the node tells.',
    }),
  NodeNotReady: (_, { node }) =>
    at(node, 'why', { say: 'Bring the node back: the claim goes on by itself.' }),
};

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
    say: `If what removed volumes left in free extents of the volume group ${parameters?.vgName} may be destroyed, on all nodes, have the class say so. It is replaced; volumes that are there keep what they have.`,
    run: [`${commandLine('printf', '%s', JSON.stringify(wanted))} | kubectl replace --force -f -`],
  };
}
