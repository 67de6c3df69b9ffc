import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { describeAsRoot } from '../../support/root.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import type { KilledOptions } from './killed.ts';
import { DIRECTORY, kubeletUser, startKubelet } from './kubelet.ts';

const NODE = 'n1';

/** Returns the state of this machine that a kubelet, its containers and their volumes change. */
async function look(): Promise<Record<string, unknown>> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const { stdout: loops } = await execa('losetup', [
    '--list',
    '--noheadings',
    '--output',
    'BACK-FILE',
  ]);
  const processes = await Promise.all(
    (await readdir('/proc')).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  const { stdout: cgroups } = await execa('find', [
    '/sys/fs/cgroup',
    '-type',
    'd',
    '-name',
    'k8s.io',
  ]);
  const { stdout: settings } = await execa('sysctl', [
    ...['vm.overcommit_memory', 'vm.panic_on_oom', 'kernel.panic', 'kernel.panic_on_oops'],
    ...['kernel.keys.root_maxkeys', 'kernel.keys.root_maxbytes'],
  ]);
  const folders = [
    DIRECTORY,
    '/run/containerd',
    '/var/lib/kubelet',
    '/var/log/containers',
    '/var/log/pods',
  ];
  return {
    mounts: mounts.filter((line) => line.includes(DIRECTORY)).length,
    loops: loops.split('\n').filter((file) => file.includes(DIRECTORY)).length,
    processes: processes.filter((argv) => argv.includes(DIRECTORY)).length,
    cgroups,
    settings,
    folders: folders.filter((folder) => existsSync(folder)),
  };
}

describeAsRoot('a kubelet that was killed with its pods running', () => {
  let controlPlane: ControlPlane;

  let panic = '';

  beforeAll(async () => {
    // A kubelet changes kernel.panic, perhaps to its current value: start from another value.
    panic = (await execa('sysctl', ['-n', 'kernel.panic'])).stdout;
    await execa('sysctl', ['-w', 'kernel.panic=7']);
    controlPlane = await startControlPlane({ users: kubeletUser(NODE) });
  }, 600_000);
  afterAll(async () => {
    await controlPlane?.stop();
    await execa('sysctl', ['-w', `kernel.panic=${panic}`]);
  });

  test('leaves state that the next kubelet removes completely', async () => {
    const whole = await startKubelet(controlPlane, NODE);
    await whole.stop();
    const before = await look();
    expect(before).toMatchObject({ mounts: 0, loops: 0, processes: 0, cgroups: '' });
    expect(before.folders).not.toContain('/var/lib/kubelet');

    await startAndKill(controlPlane);
    const left = await look();
    // Both disks, and the kubelet's own loop device for the second.
    expect(left).toMatchObject({ loops: 3, folders: expect.arrayContaining([DIRECTORY]) });
    expect(left.cgroups).not.toBe('');
    expect(left.settings).not.toBe(before.settings);

    const next = await startKubelet(controlPlane, NODE);
    expect(await look()).toMatchObject({ loops: 0 });
    await next.stop();
    expect(await look()).toEqual(before);
  });
});

async function startAndKill({
  kubeconfig,
  kubeconfigOf,
  kubectl,
  folder,
}: ControlPlane): Promise<void> {
  const [user = ''] = Object.keys(kubeletUser(NODE));
  const options: KilledOptions = { node: NODE, kubeconfig, nodeKubeconfig: kubeconfigOf(user) };
  const program = join(import.meta.dirname, 'killed.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [said] = await Promise.race([once(child.stdout, 'data'), ended]);
  expect(String(said)).toBe('held\n');
  child.kill('SIGKILL');
  await ended;
  // Otherwise the next kubelet starts the pods again.
  const env = { KUBECONFIG: kubeconfig, HOME: folder };
  await execa(kubectl, ['delete', 'pods', '--all', '--force', '--grace-period=0'], { env });
}
