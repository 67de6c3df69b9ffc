import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeNode } from '../../../src/api/core.ts';
import { NODES } from '../../../src/api/resources.ts';
import { connect } from '../../../src/kube/connect.ts';
import { needPackages } from '../../support/debian-packages.ts';
import { freePorts } from '../../support/free-ports.ts';
import { lock } from '../cache.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { buildPrograms } from '../control-plane/programs.ts';
import { type Part, startPart } from '../part.ts';
import { NETWORK_PLUGINS, startContainerd } from './containerd.ts';
import { keepSysctls, refuseNode, undo } from './undo.ts';

/**
 * Always the same directory, so that the next start cleans up after a killed kubelet: one kubelet
 * at a time per machine.
 */
export const DIRECTORY = '/var/lib/stowage-kubelet';
const LOCK = '/run/stowage-kubelet.lock';

/** The part of a control plane that a kubelet needs. */
type Cluster = Pick<ControlPlane, 'kubeconfig' | 'kubeconfigOf'>;

export interface Kubelet {
  /** Name of the node that this machine is. */
  node: string;
  /**
   * Directory of the kubelet. stop(), or the next start if stop() is not reached, detaches loop
   * devices of its files.
   */
  folder: string;
  /** PID of the kubelet. */
  pid: number;
  /** Ends all pods immediately, and removes everything of them from the machine. */
  stop(): Promise<void>;
}

/** Returns the user and groups by which the control plane authenticates the node's kubelet. */
export const kubeletUser = (node: string) => ({ [`system:node:${node}`]: ['system:nodes'] });

export const isReady = ({ status }: KubeNode) =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/**
 * Makes this machine a Ready node of the control plane, with containerd. Must run as root. Waits
 * while another checkout runs a kubelet.
 */
export async function startKubelet(cluster: Cluster, node: string): Promise<Kubelet> {
  await refuseNode();
  await needPackages({
    containerd: 'containerd',
    runc: 'runc',
    [`${NETWORK_PLUGINS}/loopback`]: 'containernetworking-plugins',
    busybox: 'busybox-static',
  });
  const program = await buildPrograms();
  const free = await lock(LOCK);
  const parts: Part[] = [];
  let pid = 0;
  const stopParts = async () => {
    for (const part of parts.splice(0).reverse()) await part.stop();
  };
  try {
    await undo(DIRECTORY);
    await mkdir(DIRECTORY, { mode: 0o700 });
    await keepSysctls(DIRECTORY);
    const containerd = await startContainerd(DIRECTORY);
    parts.push(containerd);
    const kubelet = await start(program('kubelet'), cluster, node, containerd.socket);
    parts.push(kubelet);
    pid = kubelet.pid;
  } catch (error) {
    // The directory stays: the error names a log in it.
    await stopParts();
    await free();
    throw error;
  }
  return {
    node,
    folder: DIRECTORY,
    pid,
    async stop() {
      await stopParts();
      await undo(DIRECTORY);
      await free();
    },
  };
}

async function start(
  program: string,
  cluster: Cluster,
  node: string,
  socket: string,
): Promise<Part> {
  const [port = 0] = await freePorts(1);
  const config = join(DIRECTORY, 'kubelet.json');
  await writeFile(config, JSON.stringify(configuration(port, socket)));
  const { client } = await connect({ kubeconfig: cluster.kubeconfig });
  const [user = ''] = Object.keys(kubeletUser(node));
  return startPart({
    name: 'kubelet',
    argv: [
      program,
      `--config=${config}`,
      `--kubeconfig=${cluster.kubeconfigOf(user)}`,
      `--hostname-override=${node}`,
      `--root-dir=${join(DIRECTORY, 'kubelet')}`,
      `--cert-dir=${join(DIRECTORY, 'certificates')}`,
    ],
    folder: DIRECTORY,
    ready: async () => isReady(await client.get<KubeNode>(NODES, node)),
  });
}

const configuration = (port: number, socket: string) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  containerRuntimeEndpoint: `unix://${socket}`,
  podLogsDir: join(DIRECTORY, 'logs'),
  volumePluginDir: join(DIRECTORY, 'volume-plugins'),
  address: '127.0.0.1',
  port,
  healthzPort: 0,
  // No client may connect.
  authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  // Leave the machine's cgroups, memory settings and packet filter unchanged.
  failCgroupV1: false,
  cgroupDriver: 'cgroupfs',
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  makeIPTablesUtilChains: false,
  // Ignore how full the developer's disk is.
  localStorageCapacityIsolation: false,
  evictionHard: {
    'memory.available': '50Mi',
    'nodefs.available': '10Mi',
    'imagefs.available': '10Mi',
  },
  imageGCHighThresholdPercent: 100,
});
