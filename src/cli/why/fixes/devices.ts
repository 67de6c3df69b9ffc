import { phaseOf } from '../../../api/phase.ts';
import type { DEVICES } from '../../../api/reasons/devices.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import { listUsers } from '../../../storage/holders.ts';
import { commandLine, onNode } from '../../lib/command-line.ts';
import { readyOf } from '../../lib/objects/volume-progress.ts';
import { foundIn } from '../../lib/read-result.ts';
import type { Fix } from '../types.ts';
import { consent } from './consent.ts';
import { makeLarger } from './larger.ts';
import type { FixContext, Fixes } from './types.ts';

interface Used {
  device?: string;
  command?: string;
  look?: string;
  /** Set if Stowage knows no command that ends the use. */
  use?: string;
}

const takeOut = ({ device = 'the device' }: Used): Fix => ({
  say: `End that use of ${device}, or use another device.`,
});

/** Returns the fix that ends a use permanently: the device will be another Volume's. */
const endForGood = (used: Used, { node }: FixContext): Fix =>
  used.command === undefined
    ? withOpeners(used, node)
    : {
        say: 'If its content is not needed, end that use, and what restores it, such as a line of /etc/fstab. Otherwise, use another device.',
        run: [commandLine('ssh', node, used.command)],
      };

/** Returns the fix that ends a use by hand, with the command that lists the processes, if known. */
const withOpeners = (used: Used, node: string): Fix => {
  const fix = takeOut(used);
  return used.look === undefined
    ? fix
    : {
        say: `${fix.say} The command lists the processes.`,
        run: [commandLine('ssh', node, used.look)],
      };
};

/** Returns the fix that ends a use. The kubelet unmounts volumes of pods by itself. */
export function endUse({ command, look, use }: Used, { node }: FixContext): Fix {
  if (look !== undefined) return listOpeners(node, look);
  if (command === undefined && use !== undefined)
    return { say: 'End that use on the node: Stowage knows no command for it.' };
  return command === undefined
    ? letKubelet({}, { node })
    : {
        say: 'If its content is not needed, end that use. Stowage then continues, or reports the next use.',
        run: [commandLine('ssh', node, command)],
      };
}

/** Returns the fix that lists programs. The command is quoted, as a node's observation gave it. */
const listOpeners = (node: string, command: string): Fix => ({
  say: 'End the process that has it open. The command lists it.',
  run: [commandLine('ssh', node, command)],
});

const letKubelet = (_: object, { node }: FixContext): Fix => ({
  say: 'The kubelet unmounts it once no container of the pod runs. If it does not, check its log.',
  run: [onNode(node, 'journalctl', '-u', 'kubelet', '-n', '50', '--no-pager')],
});

/** Selects a fix by phase: pods of the Volume do not use a device that is not the Volume's yet. */
const byPhase =
  (fix: (used: Used, context: FixContext) => Fix) =>
  (used: Used, context: FixContext): Fix =>
    isToBeMade(context) ? takeOut(used) : fix(used, context);

const isToBeMade = ({ volume }: FixContext): boolean =>
  volume !== undefined && volume.status?.prepared === undefined && phaseOf(volume) !== 'Available';

/**
 * Reports whether the Volume that the reason names may have the device. A Volume that was created
 * later took only the name: its data is elsewhere.
 */
function isOlderOwner({ node, known }: FixContext): boolean {
  const other = known?.otherVolume && foundIn(known.otherVolume);
  const ready = known && readyOf(known.volume);
  if (other === undefined || nodeOf(other) !== node) return false;
  const reported = Date.parse(ready?.lastUpdateTime ?? ready?.lastTransitionTime ?? '');
  return Date.parse(other.metadata.creationTimestamp ?? '') <= reported;
}

export const devices: Fixes<typeof DEVICES> = {
  DeviceMissing: () => ({ say: 'Check that the path is right, and that the disk is connected.' }),
  DeviceOfAnother: ({ device = 'the device', volume }, context) => {
    // A Volume without a known name may be gone, which the action of the reason covers.
    if (volume === undefined) return undefined;
    const isKnown = isOlderOwner(context);
    const check = isKnown ? '' : `Check that Volume ${volume} still has ${device}. `;
    const ifGone = isKnown
      ? ''
      : ` If that Volume is gone, list what it left on the node: ${commandLine('stowage', 'check', 'node', context.node)}.`;
    return {
      say: `${check}If the data of that Volume is not needed, delete it, which frees ${device}.${ifGone} Otherwise, use another device.`,
      ...(isKnown && { run: [commandLine('stowage', 'delete', 'volume', volume, '--wait')] }),
    };
  },
  DeviceNotFree: takeOut,
  DeviceCarriesData: ({ content }, context) => consent(content, context),
  FileSystemTooSmall: ({ size }, context) =>
    makeLarger(size, 'a storage class with fsType ext4', context),
  UseHoldsAdoption: endForGood,
  UseHoldsCleaning: endUse,
  DeviceInUse: endUse,
  LoopStackedOnDevice: byPhase(({ device = '' }, { node }) => ({
    say: 'The kubelet detaches its own loop device once no container of the pod runs. If their content is not needed, detach the listed devices with losetup -d.',
    run: [onNode(node, 'losetup', '-j', device)],
  })),
  DeviceMounted: byPhase(letKubelet),
  DeviceMountedUnseen: byPhase((_, { node }) => ({
    say: 'End the processes with an open file or working directory there, or unmount the kept mount namespace. The command lists such namespaces.',
    run: [onNode(node, 'findmnt', '-t', 'nsfs')],
  })),
  DeviceMadeIntoAnother: byPhase(letKubelet),
  DeviceIsSwap: byPhase(letKubelet),
  DeviceClaimed: takeOut,
  OpenToWrite: ({ path = 'the device' }) => takeOut({ device: path }),
  DeviceOpen: byPhase(({ device = '' }, { node }) => listOpeners(node, listUsers(device))),
  UseUnknown: (_, { node }) => ({
    say: 'Check what the processes there wait for, such as an unresponsive file server.',
    run: [onNode(node, 'ps', 'axl')],
  }),
  KubeletUsesVolume: letKubelet,
  KubeletFoldersLeft: letKubelet,
  KubeletMountsAnother: letKubelet,
};
