import { connect } from '../../src/kube/connect.ts';
import { createNode } from '../support/claim-objects.ts';
import { ensureUdev } from '../support/udev.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { type Machine, type SceneOptions, startSceneOn } from './kubelet/scene.ts';

/**
 * Controllers that claims and snapshots need beside the daemon: no scheduler, and no node lifecycle
 * controller, as the node has no kubelet.
 */
const CONTROLLERS = [
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
];

/**
 * Starts a real cluster with this machine as its node, but no kubelet: for volumes that no pod
 * mounts.
 */
export const startBareScene = (options: Omit<SceneOptions, 'controllers'> = {}) =>
  startSceneOn('n1', startBareNode, [], { ...options, controllers: CONTROLLERS });

async function startBareNode({ kubeconfig }: ControlPlane, node: string): Promise<Machine> {
  const { client } = await connect({ kubeconfig });
  await createNode(client, node);
  return { reachedBy: ['--transport', 'local', '--local-node', node], stop: await ensureUdev() };
}
