import { until } from '../../support/until.ts';
import { type Mounted, type podsOf, reading, writing } from '../kubelet/pods.ts';
import { CONVERGES_WITHIN } from './scene.ts';
import type { Vm } from './vm.ts';

/** Returns a script that prints a line for each volume: its claim, and the word in it. */
export const readAll = (all: readonly Mounted[]) =>
  all.map((each) => `echo ${each.claim} "$(${reading(each)})"`).join('; ');

/** Returns the ID of the VM's current boot. */
export const bootOf = async (vm: Vm) =>
  (await vm.run(['cat', '/proc/sys/kernel/random/boot_id'])).stdout;

/**
 * Creates a pod that stays. On each start it prints the content of its volumes, then writes the
 * boot's ID to them.
 */
export const createStaying = (
  pods: ReturnType<typeof podsOf>,
  name: string,
  all: readonly Mounted[],
): Promise<void> =>
  pods.create(
    name,
    all,
    [
      'boot=$(cat /proc/sys/kernel/random/boot_id)',
      `found=$(${readAll(all)})`,
      all.map((each) => writing(each, '$boot')).join(' && '),
      'echo "in boot $boot:"; echo "$found"; echo that is all; sleep infinity',
    ].join('\n'),
    { restartPolicy: 'Always' },
  );

/**
 * Waits for the volumes' content that a staying pod printed when it started in that boot, a line
 * for each volume.
 */
export const outputIn = (vm: Vm, name: string, boot: string): Promise<string[]> =>
  until(
    `pod ${name} in boot ${boot}`,
    async () => {
      const { stdout } = await vm.run(['sh', '-c', `cat /var/log/pods/*_${name}_*/c/*.log`], {
        reject: false,
      });
      // Each line has a prefix of three fields: time, stream, and whether it is complete.
      const lines = stdout.split('\n').map((line) => line.replace(/^(\S+ ){3}/, ''));
      const from = lines.lastIndexOf(`in boot ${boot}:`);
      const to = lines.indexOf('that is all', from);
      return from === -1 || to === -1 ? undefined : lines.slice(from + 1, to);
    },
    CONVERGES_WITHIN,
  );
