import { randomUUID } from 'node:crypto';
import type { Executor, JobState } from '../../../src/nodes/job.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import { deviceOf, type VolumeDevice } from '../../../src/storage/device.ts';
import type { Desired, Observed } from '../../../src/storage/registry.ts';
import type { DesiredLvm, VolumeOperation } from '../../../src/storage/types.ts';
import { observe, planNow, runSteps } from '../../support/carry-out.ts';
import type { Content } from '../../support/kinds.ts';
import { until } from '../../support/until.ts';
import { onNode } from './node.ts';
import { startVm, type Vm } from './vm.ts';

export const NODE = 'vm1';
export const MIB = 1n << 20n;

/** A VM with a volume group vg0 on two disks, and a thin pool in it. */
export interface LvmNode {
  vm: Vm;
  node: ReturnType<typeof onNode>;
  executor: Executor;
  desired(content: Content, more?: Partial<DesiredLvm>): DesiredLvm;
  /**
   * Plans and runs until no step remains, through crashes.
   * @returns the last refusal, or the device
   */
  carry(operation: VolumeOperation, desired: Desired): Promise<VolumeDevice | string>;
  /** Returns the planned commands, or the refusal. */
  planned(operation: VolumeOperation, desired: DesiredLvm): Promise<string[] | string>;
  /** Starts the remaining steps, and kills the job and its processes after a time. */
  killAfter(
    operation: VolumeOperation,
    desired: DesiredLvm,
    ms: number,
  ): Promise<JobState | undefined>;
  /** Returns the names of the logical volumes of vg0, without those of the group itself. */
  volumes(): Promise<string[]>;
  stop(): Promise<void>;
}

const ROUNDS = 12;

/** Starts the VM. @param disks additional disks, as sizes by name */
export async function startLvmNode(disks: Record<string, string> = {}): Promise<LvmNode> {
  const vm = await startVm({ name: NODE, disks: { pv1: '2G', pv2: '1G', ...disks } });
  const executor = createShellExecutor(
    createSshShell({ configFile: vm.configFile, addressOf: () => ({}) }),
  );
  await vm.run(['vgcreate', 'vg0', vm.disk('pv1'), vm.disk('pv2')]);
  // The whole pool is on the disk that no test unplugs.
  const pool = ['--type', 'thin-pool', '-L', '700M', '-n', 'pool', 'vg0', vm.disk('pv1')];
  await vm.run(['lvcreate', '--yes', ...pool]);
  // LVM does not flush the disk's cache, which a power cut would lose.
  await vm.run(['sync', vm.disk('pv1'), vm.disk('pv2')]);
  const names = new Map<string, number>();

  async function carry(
    operation: VolumeOperation,
    desired: Desired,
  ): Promise<VolumeDevice | string> {
    let last: JobState | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const plan = await planNow(executor, NODE, operation, desired);
      if ('refusal' in plan) return plan.refusal;
      if (plan.steps.length === 0) return deviceOf(desired, await observe(executor, NODE, desired));
      last = await runSteps(executor, NODE, desired, plan.steps);
      if (last.state === 'failed') break;
    }
    if (last?.state === 'guarded') return last.refusal;
    if (last?.state === 'failed') return last.output;
    throw new Error(`${operation} came to no end: ${JSON.stringify(last)}`);
  }

  return {
    vm,
    node: onNode(vm),
    executor,
    desired(content, more = {}) {
      const count = (names.get(content) ?? 0) + 1;
      names.set(content, count);
      return {
        type: 'lvm',
        uid: randomUUID(),
        name: `${content.toLowerCase()}-${count}`,
        mode: content === 'Block' ? 'Block' : 'Filesystem',
        fs: content === 'Block' ? undefined : { type: content, options: [] },
        recorded: false,
        onDelete: 'Delete',
        kubeletRoot: '/var/lib/kubelet',
        vgName: 'vg0',
        thinPool: undefined,
        sizeBytes: (content === 'xfs' ? 304n : 64n) * MIB,
        overwrite: undefined,
        forced: false,
        identity: undefined,
        ...more,
      };
    },
    carry,
    async planned(operation, desired) {
      const plan = await planNow(executor, NODE, operation, desired);
      return 'refusal' in plan ? plan.refusal : plan.steps.map(({ argv }) => argv.join(' '));
    },
    async killAfter(operation, desired, ms) {
      // A killed job may leave a temporary state.
      const plan = await until('the operation can be planned', async () => {
        const made = await planNow(executor, NODE, operation, desired);
        return 'refusal' in made && made.retryable ? undefined : made;
      });
      if ('refusal' in plan) throw new Error(plan.refusal);
      if (plan.steps.length === 0) return undefined;
      const key = { subject: desired.uid, id: `killed-${randomUUID()}` };
      await executor.submit(NODE, { key, steps: plan.steps }, 0);
      await vm.run(['sh', '-c', KILL, 'sh', String(ms / 1000), desired.uid]);
      const [state] = await executor.poll(NODE, [key], 20_000);
      return state;
    },
    async volumes() {
      const { stdout } = await vm.run(['lvs', '--noheadings', '-o', 'lv_name', 'vg0']);
      return (
        stdout
          .split('\n')
          .map((line) => line.trim())
          // LVM may print messages about a disk whose metadata were cut off.
          .filter((name) => /^\S+$/.test(name) && name !== 'pool')
          .sort()
      );
    },
    async stop() {
      await executor.close();
      await vm.stop();
    },
  };
}

/** Kills every process that has a file of the job open: its shell, and the program that it runs. */
const KILL = `sleep "$1"
for fd in $(find /proc/[0-9]*/fd -lname "/run/stowage/jobs/$2/*" 2>/dev/null); do
  pid=\${fd#/proc/}
  kill -KILL "\${pid%%/*}" 2>/dev/null
done
true`;

/** Returns the Volume with the device recorded as in its status. */
export const recordedAs = <D extends Desired>(desired: D, device: VolumeDevice | string): D => {
  if (typeof device === 'string') throw new Error(device);
  return { ...desired, recorded: true, identity: device.identity };
};

export type { Observed };
