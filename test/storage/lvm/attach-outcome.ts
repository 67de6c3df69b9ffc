import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../../src/storage/types.ts';
import { dm, lvmDesired } from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { UID } from '../../support/volume-input.ts';

/** Plans to attach a provisioned logical volume. */

export const UNMARKED = { intent: undefined, done: undefined, recordFiles: false } as const;
export const recorded: DesiredLvm = { ...lvmDesired, recorded: true, identity: dm.identity };
export const xfs: DeviceFacts = {
  ...dm,
  signature: { found: 'one', type: 'xfs', uuid: UID },
  content: `xfs:${UID}`,
};
export function outcome(wanted: DesiredLvm, observed: ObservedLvm): unknown {
  const made = plan('attach', wanted, observed, 0);
  if ('refusal' in made) return made.refusal;
  const commands = made.steps
    .map(({ argv }) => argv.join(' '))
    .filter((command) => !/^(install|mv|sync|dd of=\/var)/.test(command));
  return made.notes === undefined ? commands : { commands, notes: made.notes };
}
