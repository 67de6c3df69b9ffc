import { commandLine } from '../command-line.ts';
import type { Reason } from '../reasons.ts';
import type { Fix } from '../types.ts';
import { type ClaimKnown, lookAt } from './known.ts';

/** As provisioning/claims/decide-claim.ts says it of a node, or of several. */
const NO_ROOM = /has room for \d+ bytes in .+?, and \d+ are asked for/;
/** As the same says it of a node whose directory is not on its file system. */
const NOT_MOUNTED = /has no room now: /;
/** As provisioning/sources/resolve.ts says it. */
const GATE_OFF = /in another namespace than \S+, which this daemon does not follow/;

/** What an event on a claim tells that it waits for. Pure. */
export function eventCause(text: string): Reason {
  if (NO_ROOM.test(text)) return 'NoRoom';
  if (NOT_MOUNTED.test(text)) return 'DirectoryNotMounted';
  return GATE_OFF.test(text) ? 'GateOff' : 'ProvisioningFailed';
}

/** What helps with that. Pure. */
export function eventFix(known: ClaimKnown, text: string): Fix {
  switch (eventCause(text)) {
    case 'NoRoom':
      return {
        say: 'Make room there: delete claims and Volumes that nobody needs. Or delete this one, and ask for less. See where there is room, and what takes it:',
        run: ['stowage get nodes', commandLine('stowage', 'get', 'volumes', '--sort-by', 'node')],
      };
    case 'DirectoryNotMounted':
      return {
        say: 'Mount the file system that the message names on that node, and have /etc/fstab mount it at each boot. The claim goes on by itself.',
        run: ['stowage get nodes'],
      };
    case 'GateOff':
      return {
        say: 'Have the daemon run with this gate on; or use a VolumeSnapshotLink, which needs none.',
        run: ['stowage watch --feature-gates CrossNamespaceVolumeDataSource=true'],
      };
    default:
      return { say: 'Put right what the message names.', run: [lookAt(known)] };
  }
}
