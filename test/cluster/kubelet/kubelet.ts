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

/** Always the same, so that what was killed is found again and undone: one kubelet at a time on a machine. */
export const FOLDER = '/var/lib/stowage-kubelet';
const LOCK = '/run/stowage-kubelet.lock';

/** What a kubelet needs of a control plane. */
type Cluster = Pick<ControlPlane, 'kubeconfig' | 'kubeconfigOf'>;

export interface Kubelet {
  /** The node that this machine is. */
  node: string;
  /** Loop devices of files in it are detached by stop(), and by the next start if this one never comes to that. */
  folder: string;
  /** Of the kubelet itself. */
  pid: number;
  /** Ends all pods at once, and leaves nothing of them on the machine. */
  stop(): Promise<void>;
}

/** Who the control plane must know for a kubelet to be that node: a user and its groups. */
export const kubeletUser = (node: string) => ({ [`system:node:${node}`]: ['system:nodes'] });

export const isReady = ({ status }: KubeNode) =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** This machine as a node of the control plane, Ready, with containerd. Waits while another checkout has one. As root. */
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
    await undo(FOLDER);
    await mkdir(FOLDER, { mode: 0o700 });
    await keepSysctls(FOLDER);
    const containerd = await startContainerd(FOLDER);
    parts.push(containerd);
    const kubelet = await start(program('kubelet'), cluster, node, containerd.socket);
    parts.push(kubelet);
    pid = kubelet.pid;
  } catch (error) {
    // The folder is left: the error names a log in it.
    await stopParts();
    await free();
    throw error;
  }
  return {
    node,
    folder: FOLDER,
    pid,
    async stop() {
      await stopParts();
      await undo(FOLDER);
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
  const config = join(FOLDER, 'kubelet.json');
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
      `--root-dir=${join(FOLDER, 'kubelet')}`,
      `--cert-dir=${join(FOLDER, 'certificates')}`,
    ],
    folder: FOLDER,
    ready: async () => isReady(await client.get<KubeNode>(NODES, node)),
  });
}

const configuration = (port: number, socket: string) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  containerRuntimeEndpoint: `unix://${socket}`,
  podLogsDir: join(FOLDER, 'logs'),
  volumePluginDir: join(FOLDER, 'volume-plugins'),
  address: '127.0.0.1',
  port,
  healthzPort: 0,
  // Nobody is let in.
  authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  // The machine's cgroups, memory and packet filter are left as they are.
  failCgroupV1: false,
  cgroupDriver: 'cgroupfs',
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  makeIPTablesUtilChains: false,
  // However full the disk of a developer is.
  localStorageCapacityIsolation: false,
  evictionHard: {
    'memory.available': '50Mi',
    'nodefs.available': '10Mi',
    'imagefs.available': '10Mi',
  },
  imageGCHighThresholdPercent: 100,
});
