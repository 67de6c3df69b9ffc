import { phaseOf } from '../../../api/phase.ts';
import type { DEVICES } from '../../../api/reasons/devices.ts';
import { listUsers } from '../../../storage/holders.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import { consent } from './consent.ts';
import type { FixContext, Fixes } from './types.ts';

interface Used {
  device?: string;
  command?: string;
  look?: string;
}

const takeOut = ({ device = 'the device' }: Used): Fix => ({
  say: `Take ${device} out of use, as the message says it is, or use another device.`,
});

/** Returns the fix that ends a use permanently: the device will be another Volume's. */
const endForGood = (used: Used, { node }: FixContext): Fix =>
  used.command === undefined
    ? takeOut(used)
    : {
        say: 'If nobody needs what is on it, end that use, and what brings it back, such as /etc/fstab; else use another device.',
        run: [commandLine('ssh', node, used.command)],
      };

/** Returns the fix that ends a use. The kubelet unmounts volumes of pods by itself. */
export function endUse({ command, look }: Used, { node }: FixContext): Fix {
  if (look !== undefined) return listOpeners(node, look);
  return command === undefined
    ? letKubelet({}, { node })
    : {
        say: 'If nobody needs what is on it, end that use. It is detached by itself then, or the next use is named.',
        run: [commandLine('ssh', node, command)],
      };
}

/** Returns the fix that lists programs. The command is quoted, as a node's observation gave it. */
const listOpeners = (node: string, command: string): Fix => ({
  say: 'End the program that has it open; this lists it.',
  run: [commandLine('ssh', node, command)],
});

const letKubelet = (_: object, { node }: FixContext): Fix => ({
  say: 'The kubelet unmounts it once no container of the pod runs any more. If that lasts, see what it says:',
  run: [onNode(node, 'journalctl', '-u', 'kubelet', '-n', '50', '--no-pager')],
});

/** Selects a fix by phase: pods of the Volume do not use a device that is not the Volume's yet. */
const byPhase =
  (fix: (used: Used, context: FixContext) => Fix) =>
  (used: Used, context: FixContext): Fix =>
    isToBeMade(context) ? takeOut(used) : fix(used, context);

const isToBeMade = ({ volume }: FixContext): boolean =>
  volume !== undefined && volume.status?.prepared === undefined && phaseOf(volume) !== 'Available';

export const devices: Fixes<typeof DEVICES> = {
  DeviceMissing: () => ({ say: 'Put right what the message names.' }),
  DeviceOfAnother: ({ device = 'the device', volume }) => ({
    say: `If what that Volume holds is not needed any more, delete it: ${device} is free then. Else use another device.`,
    ...(volume !== undefined && {
      run: [commandLine('stowage', 'delete', 'volume', volume, '--wait')],
    }),
  }),
  DeviceNotFree: takeOut,
  MultipathUsesDisk: takeOut,
  DeviceCarriesData: ({ content }, context) => consent(content, context),
  UseHoldsAdoption: endForGood,
  UseHoldsCleaning: endUse,
  DeviceInUse: endUse,
  LoopStackedOnDevice: byPhase(({ device = '' }, { node }) => ({
    say: 'The kubelet detaches its own loop device once no container of the pod runs any more. If nobody needs what is on it, detach what this lists, by losetup -d:',
    run: [onNode(node, 'losetup', '-j', device)],
  })),
  DeviceMounted: byPhase(letKubelet),
  DeviceMountedUnseen: byPhase((_, { node }) => ({
    say: 'End what has a file open there, or works in a folder there, or take off the mount namespace that is kept; such are listed by:',
    run: [onNode(node, 'findmnt', '-t', 'nsfs')],
  })),
  DeviceMadeIntoAnother: byPhase(letKubelet),
  DeviceIsSwap: byPhase(letKubelet),
  DeviceClaimed: takeOut,
  OpenToWrite: ({ path = 'the device' }) => takeOut({ device: path }),
  DeviceOpen: byPhase(({ device = '' }, { node }) => listOpeners(node, listUsers(device))),
  UseUnknown: (_, { node }) => ({
    say: 'See what the programs there wait for, such as a file server that does not answer.',
    run: [onNode(node, 'ps', 'axl')],
  }),
  KubeletUsesVolume: letKubelet,
  KubeletFoldersLeft: letKubelet,
  KubeletMountsAnother: letKubelet,
};
