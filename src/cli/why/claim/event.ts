import type { AnyEvent, StorageClass } from '../../../api/core.ts';
import { OVERWRITE_PARAMETER } from '../../../model/dynamic-class.ts';
import { commandLine } from '../../lib/command-line.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Reason } from '../reasons.ts';
import type { Fix } from '../types.ts';
import { type ClaimFacts, lookAt } from './facts.ts';

/** As controllers/provisioner/decide-claim.ts says it of a node, or of several. */
const NO_ROOM = /has room for \d+ bytes in .+?, and \d+ are asked for/;
/** As the same says it of a node whose directory is not on its file system. */
const NOT_MOUNTED = /node (\S+) has no room now: /;
/** As the same says it of a node that told nothing, and of one that Kubernetes has given up. */
const ROOM_UNKNOWN = /how much room there is on node (\S+) is not known/;
const NOT_READY = /(?:^|[ :;])node (\S+) is not Ready(?:$|[ ;,])/;
/** As the same says it of free extents that carry something. */
const EXTENTS = /free extents of .+ carry what removed volumes left/;
/** As model/data-source/resolve.ts says it. */
const GATE_OFF = /in another namespace than \S+, which this daemon does not follow/;

/** Whether the daemon said that its gate is off. Pure. */
export const tellsGateOff = (event: AnyEvent | undefined): boolean =>
  GATE_OFF.test(event?.message ?? '');

/** What an event on a claim tells that it waits for. Pure. */
export function eventCause(text: string): Reason {
  if (EXTENTS.test(text)) return 'FreeExtentsCarryData';
  if (NO_ROOM.test(text)) return 'NoRoom';
  if (NOT_MOUNTED.test(text)) return 'DirectoryNotMounted';
  if (ROOM_UNKNOWN.test(text)) return 'RoomUnknown';
  if (NOT_READY.test(text)) return 'NodeNotReady';
  return GATE_OFF.test(text) ? 'GateOff' : 'ProvisioningFailed';
}

/** Fix for a gate that is off. */
export const GATE_ON: Fix = {
  say: 'Have the daemon run with this gate on; a VolumeSnapshotLink needs none, for a snapshot.',
  daemonFlags: ['--feature-gates', 'CrossNamespaceVolumeDataSource=true'],
};

export const MAKE_ROOM: Fix = {
  say: 'Make room there: delete claims and Volumes that nobody needs. Or delete this one, and ask for less. See where there is room, and what takes it:',
  run: ['stowage get nodes', commandLine('stowage', 'get', 'volumes', '--sort-by', 'node')],
};

/** Replaces a class in one command, as its parameters are immutable. */
function consent(found: StorageClass | undefined): Fix | undefined {
  if (found === undefined) return undefined;
  const { metadata, parameters, ...rest } = found;
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

/** What helps with that. Pure. */
export function eventFix(known: ClaimFacts, text: string): Fix {
  switch (eventCause(text)) {
    case 'FreeExtentsCarryData':
      return (
        consent(foundIn(known.storageClass)) ?? {
          say: 'Put right what the message names.',
          run: [lookAt(known)],
        }
      );
    case 'NoRoom':
      return MAKE_ROOM;
    case 'DirectoryNotMounted':
      return {
        say: 'Mount the file system of the directory of its class on that node, and have /etc/fstab mount it at each boot. The claim goes on by itself.',
        run: [commandLine('stowage', 'check', 'node', NOT_MOUNTED.exec(text)?.[1] ?? '')],
      };
    case 'RoomUnknown':
      return {
        say: 'Put right what the message names: the claim goes on once the node tells.',
        run: [commandLine('stowage', 'check', 'node', ROOM_UNKNOWN.exec(text)?.[1] ?? '')],
      };
    case 'NodeNotReady':
      return {
        say: 'Bring the node back: the claim goes on by itself.',
        run: [commandLine('stowage', 'why', 'node', NOT_READY.exec(text)?.[1] ?? '')],
      };
    case 'GateOff':
      return GATE_ON;
    default:
      return { say: 'Put right what the message names.', run: [lookAt(known)] };
  }
}
