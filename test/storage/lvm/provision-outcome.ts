import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../../src/storage/types.ts';
import { dm, free } from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';

/** Plans to provision a logical volume, and devices with other content. */

/** Returns the commands without those for records, which every kind has. */
export function outcome(wanted: DesiredLvm, observed: ObservedLvm): string[] | string {
  const made = plan('provision', wanted, observed, 0);
  if ('refusal' in made) return `${made.retryable ? 'retryable: ' : ''}${made.refusal}`;
  return made.steps
    .map(({ argv }) => argv.join(' '))
    .filter((command) => !/^(install|mv|sync \/var|true$|dd of=\/var)/.test(command))
    .map((command) => command.replace(/^sync .*/, 'sync'));
}
export const stale = { ...free, content: 'ext4:OLD', blkid: 'TYPE=ext4\nUUID=OLD', blkidExit: 0 };
export const xfs: DeviceFacts = {
  ...dm,
  signature: { found: 'one', type: 'xfs', uuid: 'x' },
  content: 'xfs:x',
};
