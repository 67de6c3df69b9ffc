import { copyFile, readFile } from 'node:fs/promises';
import { execa } from 'execa';
import type { KubeNode, PersistentVolumeClaim } from '../../../src/api/core.ts';
import { NODES, PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { connect } from '../../../src/kube/connect.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { until } from '../../support/until.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { image } from '../vm/image.ts';
import { startVm, type Vm } from '../vm/vm.ts';
import { type Guide, readGuide } from './guide.ts';
import { put, type Root } from './root.ts';

export const NODE = 'n1';
/** Timeout in ms: programs are slow on an emulated node. */
export const WITHIN = 300_000;
const HEARTBEAT = 10_000;

/** A cluster without Stowage, with a VM as its node, and the guide. */
export interface Scene {
  guide: Guide;
  plane: ControlPlane;
  client: KubeClient;
  vm: Vm;
  kubectl(
    ...args: string[]
  ): PromiseLike<{ exitCode?: number | undefined; stdout: string; stderr: string }>;
  /**
   * Applies the guide's first claim, waits until it is bound, deletes it, and waits until nothing
   * remains.
   */
  firstClaim(type: (line: string) => PromiseLike<{ stdout?: unknown }>): Promise<void>;
  /**
   * Adds ssh to the node, and kubectl with a kubeconfig: a user's tools before installing Stowage.
   */
  equip(root: Root): Promise<void>;
  stop(): Promise<void>;
}

export async function startScene(): Promise<Scene> {
  const guide = readGuide();
  const plane = await startControlPlane();
  const vm = await startVm({ name: NODE, memoryMiB: 1536 });
  const { client } = await connect({ kubeconfig: plane.kubeconfig });
  await client.create<KubeNode>(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE } },
  });
  await beat();
  const beating = setInterval(() => void beat().catch(() => {}), HEARTBEAT);
  const kubectl = (...args: string[]) =>
    execa(plane.kubectl, args, { env: { KUBECONFIG: plane.kubeconfig }, reject: false });

  /** Writes the status of a healthy node, as its kubelet would. */
  async function beat(): Promise<void> {
    const at = new Date().toISOString();
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      lastHeartbeatTime: at,
      lastTransitionTime: at,
    };
    const room = { cpu: '4', memory: '4Gi', pods: '10' };
    const status = { conditions: [ready], capacity: room, allocatable: room };
    await client.patch<KubeNode>(NODES, NODE, { status }, { subresource: 'status' });
  }

  const [manifest = ''] = guide.blocks('A first claim', 'yaml');
  return {
    ...{ guide, plane, client, vm, kubectl },
    async firstClaim(type) {
      const commands = guide.commands('A first claim');
      await type(commands[0] ?? '');
      await execa(plane.kubectl, ['apply', '-f', '-'], {
        env: { KUBECONFIG: plane.kubeconfig },
        input: manifest,
      });
      for (const line of commands.slice(1))
        await type(line.replace('--timeout=60s', `--timeout=${WITHIN / 1000}s`));
      const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, 'first', {
        namespace: 'default',
      });
      const name = claim.spec.volumeName ?? '';
      const { status } = await client.get<Volume>(VOLUMES, name);
      const found = await vm.run([
        'blkid',
        '-p',
        '-o',
        'value',
        '-s',
        'TYPE',
        status?.devicePath ?? '',
      ]);
      if (found.stdout !== 'ext4') throw new Error(`on the node of ${name} is ${found.stdout}`);
      await kubectl('delete', 'pod/first', 'pvc/first', '--grace-period=0', '--force');
      await until(
        `${name} is gone`,
        () =>
          client.get(VOLUMES, name).then(
            () => undefined,
            (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
          ),
        WITHIN,
      );
      await kubectl('delete', 'storageclass', 'fast');
    },
    async equip(root) {
      await put(root, 'root/.kube/config', await readFile(plane.kubeconfig, 'utf8'), 0o600);
      await copyFile(plane.kubectl, root.outside('usr/local/bin/kubectl'));
      const { clientKey, hostKey } = await image();
      await put(root, 'root/.ssh/id_ed25519', await readFile(clientKey, 'utf8'), 0o600);
      await put(root, 'root/.ssh/known_hosts', `${NODE} ${hostKey}\n`);
      await put(root, 'root/.ssh/config', sshConfig(vm.port));
    },
    async stop() {
      clearInterval(beating);
      await vm.stop();
      await plane.stop();
    },
  };
}

/**
 * Returns an ssh configuration for the VM's port on this machine. The host key is known under the
 * node's name.
 */
const sshConfig = (port: number) => `Host ${NODE}
HostName 127.0.0.1
Port ${port}
HostKeyAlias ${NODE}
User root
`;
