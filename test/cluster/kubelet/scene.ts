import { execa } from 'execa';
import { fetch } from 'undici';
import { connect } from '../../../src/kube/connect.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { freePorts } from '../../support/free-ports.ts';
import { ensureUdev } from '../../support/udev.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { startPart } from '../part.ts';
import { kubeletUser, startKubelet } from './kubelet.ts';

/** A real cluster whose one node is this machine, and the daemon that looks after its Volumes. */
export interface Scene {
  node: string;
  /** An administrator's. */
  client: KubeClient;
  stowage(...args: string[]): Promise<{ exitCode?: number; stdout: string; stderr: string }>;
  kubectl(...args: string[]): Promise<unknown>;
  /** What stop() or the next start takes off the machine, if it is a file here or a loop device of one. */
  folder: string;
  stop(): Promise<void>;
}

const STOWAGE = 'bin/stowage';
const NODE = 'n1';
/** The account that `stowage install` gives the daemon: the API server takes a token's user by that name for it. */
const ACCOUNT = 'system:serviceaccount:stowage:stowage';

export async function startScene(): Promise<Scene> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    stops.push(await ensureUdev());
    const controlPlane = await startControlPlane({
      users: {
        ...kubeletUser(NODE),
        [ACCOUNT]: ['system:serviceaccounts', 'system:serviceaccounts:stowage'],
      },
    });
    stops.push(controlPlane.stop);
    const kubelet = await startKubelet(controlPlane, NODE);
    stops.push(kubelet.stop);
    const env = { KUBECONFIG: controlPlane.kubeconfig, HOME: controlPlane.folder };
    await execa(STOWAGE, ['install', '--components', 'crds,rbac'], { env });
    const daemon = await startDaemon(controlPlane);
    stops.push(daemon.stop);
    const { client } = await connect({ kubeconfig: controlPlane.kubeconfig });
    return {
      ...{ node: NODE, client, stop },
      folder: kubelet.folder,
      stowage: (...args) => execa(STOWAGE, args, { env, reject: false }),
      kubectl: (...args) => execa(controlPlane.kubectl, args, { env }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startDaemon({ folder, kubeconfigOf }: ControlPlane) {
  const [port = 0] = await freePorts(1);
  const endpoint = `127.0.0.1:${port}`;
  return startPart({
    name: 'stowage-watch',
    argv: [
      ...([STOWAGE, 'watch', '--transport', 'local', '--local-node', NODE] as const),
      ...['--leader-election-namespace', 'stowage', '--http-endpoint', endpoint],
    ],
    env: { KUBECONFIG: kubeconfigOf(ACCOUNT) },
    folder,
    ready: async () => (await fetch(`http://${endpoint}/readyz`)).ok,
  });
}
