import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../../src/storage/types.ts';
import { dm, lv, lvmDesired } from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';

/** Plans to delete a logical volume, by deletion policy. */

export const keeping = { ...lvmDesired, recorded: true, identity: dm.identity };
export const deleting = { ...keeping, onDelete: 'Delete' } as const;
export const wiping = { ...keeping, onDelete: 'Wipe' } as const;
export const blockOf = (wanted: DesiredLvm): DesiredLvm => ({ ...wanted, mode: 'Block' });
export const inactive = { ...lv, active: false, device: undefined };
export const copy = { ...lv, name: 'copy', uuid: 'B' };
export const away = { volumes: [inactive], target: { is: 'missing' } } as const;
export const foreign: DeviceFacts = {
  ...dm,
  signature: { found: 'one', type: 'xfs', uuid: 'x' },
  content: 'xfs:x',
};
/** The node has no record of the Volume, as after a restore from a backup. */
export const UNMARKED = { intent: undefined, done: undefined, recordFiles: false } as const;
export const untagged = { ...lv, tags: [] };
/** A raw Volume that now uses the logical volume. */
export const others: ObservedLvm['others'] = [
  { uid: 'b', device: { dmUuid: dm.dmUuid ?? '', identity: dm.identity } },
];
export function outcome(wanted: DesiredLvm, observed: ObservedLvm): string[] | string {
  const made = plan('delete', wanted, observed, 0);
  if ('refusal' in made) return `${made.retryable ? 'retryable: ' : ''}${made.refusal}`;
  return made.steps
    .map(({ argv }) => argv.join(' '))
    .filter(
      (command) => !/^(install|find|flock|mv|sync|true|udevadm|cmp|dd of=\/var)/.test(command),
    )
    .map((command) => {
      if (!command.startsWith('rm -f /var/lib/stowage/volumes/')) return command;
      return command.includes('.done') ? 'forget' : 'intent';
    });
}
