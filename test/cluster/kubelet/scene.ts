import { execa } from 'execa';
import { fetch } from 'undici';
import { connect } from '../../../src/kube/connect.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { freePorts } from '../../support/free-ports.ts';
import { ensureUdev } from '../../support/udev.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { startPart } from '../part.ts';
import { kubeletUser, startKubelet } from './kubelet.ts';

/** A real cluster of one node, and the daemon that manages its Volumes. */
export interface Scene<M extends Machine = Machine> {
  node: string;
  /** Client of an administrator. */
  client: KubeClient;
  stowage(...args: string[]): Promise<{ exitCode?: number; stdout: string; stderr: string }>;
  kubectl(...args: string[]): Promise<{ stdout: string }>;
  machine: M;
  controlPlane: ControlPlane;
  /** Path of the daemon's log. */
  log: string;
  /**
   * Restarts the daemon with these flags in place of `watchFlags`, and optionally another program.
   */
  watch(flags: readonly string[], stowage?: string): Promise<void>;
  stop(): Promise<void>;
}

/** The machine of the node. */
export interface Machine {
  /** Flags of `stowage watch` for the connection to the node. */
  reachedBy: readonly string[];
  stop(): Promise<void>;
}

export interface ThisMachine extends Machine {
  /**
   * PID of its kubelet. Signals can stop and continue it, as if the node were lost and came back.
   */
  kubeletPid: number;
  /** Directory that stop() or the next start removes, with loop devices of its files. */
  folder: string;
}

const STOWAGE = 'bin/stowage';
/**
 * Account that `stowage install` creates for the daemon. The API server treats a token's user of
 * that name as the account.
 */
const ACCOUNT = 'system:serviceaccount:stowage:stowage';

export interface SceneOptions {
  apiServerFlags?: readonly string[];
  /** Controllers of the control plane. */
  controllers?: readonly string[];
  /** Components of Stowage to install, in addition to those that the daemon needs to start. */
  components?: readonly string[];
  /** Additional flags of `stowage watch`. */
  watchFlags?: readonly string[];
  /** Program of the first daemon. Defaults to that of the build. */
  daemon?: string;
}

/** Starts a scene with this machine as its node. */
export const startScene = (options?: SceneOptions) =>
  startSceneOn('n1', startThisMachine, [], options);

/**
 * Starts a scene. `start` makes a machine the Ready node `node`. `others` are the names of further
 * nodes.
 */
export async function startSceneOn<M extends Machine>(
  node: string,
  start: (controlPlane: ControlPlane, node: string) => Promise<M>,
  others: readonly string[] = [],
  { components = [], watchFlags = [], daemon: first, ...controlPlaneOptions }: SceneOptions = {},
): Promise<Scene<M>> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const controlPlane = await startControlPlane({
      ...controlPlaneOptions,
      users: {
        ...Object.assign({}, ...[node, ...others].map(kubeletUser)),
        [ACCOUNT]: ['system:serviceaccounts', 'system:serviceaccounts:stowage'],
      },
    });
    stops.push(controlPlane.stop);
    const machine = await start(controlPlane, node);
    stops.push(machine.stop);
    const env = { KUBECONFIG: controlPlane.kubeconfig, HOME: controlPlane.folder };
    await execa(STOWAGE, ['install', '--components', ['crds', 'rbac', ...components].join(',')], {
      env,
    });
    let daemon = await startDaemon(controlPlane, [...machine.reachedBy, ...watchFlags], first);
    stops.push(() => daemon.stop());
    const { client } = await connect({ kubeconfig: controlPlane.kubeconfig });
    return {
      ...{ node, client, machine, controlPlane, stop, log: daemon.log },
      async watch(flags, stowage) {
        await daemon.stop();
        daemon = await startDaemon(controlPlane, [...machine.reachedBy, ...flags], stowage);
      },
      stowage: (...args) => execa(STOWAGE, args, { env, reject: false }),
      kubectl: (...args) => execa(controlPlane.kubectl, args, { env }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes this machine the node. */
async function startThisMachine(controlPlane: ControlPlane, node: string): Promise<ThisMachine> {
  const stopUdev = await ensureUdev();
  try {
    const kubelet = await startKubelet(controlPlane, node);
    return {
      reachedBy: ['--transport', 'local', '--local-node', node],
      folder: kubelet.folder,
      kubeletPid: kubelet.pid,
      async stop() {
        await kubelet.stop();
        await stopUdev();
      },
    };
  } catch (error) {
    await stopUdev();
    throw error;
  }
}

/** Starts `stowage watch` from the build, as that account. */
export async function startDaemon(
  { folder, kubeconfigOf }: Pick<ControlPlane, 'folder' | 'kubeconfigOf'>,
  flags: readonly string[],
  stowage = STOWAGE,
) {
  const [port = 0] = await freePorts(1);
  const endpoint = `127.0.0.1:${port}`;
  return startPart({
    name: 'stowage-watch',
    argv: [
      ...([stowage, 'watch', ...flags] as const),
      ...['--leader-election-namespace', 'stowage', '--http-endpoint', endpoint],
    ],
    env: { KUBECONFIG: kubeconfigOf(ACCOUNT) },
    folder,
    ready: async () => (await fetch(`http://${endpoint}/readyz`)).ok,
  });
}
