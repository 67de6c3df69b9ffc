import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { commandIn } from '../../storage/holders.ts';
import { TOOLS } from '../../storage/node-check/tools.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import { commandLine, onNode } from '../lib/command-line.ts';
import type { Blocker, Fix } from './types.ts';

/** What keeps a Volume from being made, and what ends that. */
export type Obstruction = Pick<Blocker, 'cause'> & { fix: Fix };

type Row = [pattern: RegExp, of: (volume: Volume, found: RegExpExecArray) => Obstruction];

const ROWS: readonly Row[] = [
  // As a shell and sudo end: 126 of what cannot be run, 127 of what is not there. Each word is quoted.
  [
    /failed with status 12[67]: '([^']+)'/,
    (volume, [, program = '']) => toolMissing(volume, program),
  ],
  // As content.sh and fetch.sh of storage/scripts say it.
  [
    /this node has no program ([^\s,]+), which /,
    (volume, [, program = '']) => toolMissing(volume, program),
  ],
  [
    /(\/dev\/\S+) belongs to another Volume(?:, (?!with the UID )(\S+?)(?=\. |$))?/,
    (_, [, device = '', other]) => ({
      cause: 'DeviceOfAnother',
      fix: {
        say: `If what that Volume holds is not needed any more, delete it: ${device} is free then. Else use another device.`,
        ...(other === undefined
          ? {}
          : { run: [commandLine('stowage', 'delete', 'volume', other, '--wait')] }),
      },
    }),
  ],
  [
    /(\/dev\/\S+) is in use: /,
    (volume, { 1: device, input }) => {
      const command = commandIn(input);
      return {
        cause: 'DeviceInUse',
        fix:
          command === undefined
            ? {
                say: `Take ${device} out of use, as the message says it is, or use another device.`,
              }
            : {
                say: 'If nobody needs what is on it, end that use, and what brings it back, such as /etc/fstab; else use another device.',
                run: [commandLine('ssh', nodeOf(volume), command)],
              },
      };
    },
  ],
  [
    /there is no device (\S+) on the node|the backing file .+ is missing/,
    () => ({ cause: 'DeviceMissing', fix: { say: 'Put right what the message names.' } }),
  ],
  [
    /No space left on device|has -?\d+ bytes left, and the Volume needs|has less than the \d+ bytes left/,
    (volume) => ({ cause: 'NoSpace', fix: makeRoom(volume) }),
  ],
];

/** What keeps a Volume from being made, by what its node said; undefined where that is none of these. Pure. */
export function refusedBy(volume: Volume, message: string): Obstruction | undefined {
  for (const [pattern, of] of ROWS) {
    const found = pattern.exec(message);
    if (found !== null) return of(volume, found);
  }
  return undefined;
}

function toolMissing(volume: Volume, program: string): Obstruction {
  const from = TOOLS.find(({ name }) => name === program)?.package;
  return {
    cause: 'ToolMissing',
    fix: {
      say:
        from === undefined
          ? `Install ${program} on ${nodeOf(volume)}.`
          : `Install ${from} on the node; on others than Debian by its own command for that.`,
      ...(from === undefined
        ? {}
        : {
            run: [onNode(nodeOf(volume), 'apt-get', 'install', '-y', from.split(' ')[0] ?? '')],
          }),
    },
  };
}

function makeRoom(volume: Volume): Obstruction['fix'] {
  const look = driverOfSpec(volume.spec).roomCommand?.(volume.spec);
  return {
    say: `Make room, or create a smaller volume.${look === undefined ? '' : ' See what there is:'}`,
    ...(look && { run: [onNode(nodeOf(volume), ...look)] }),
  };
}
