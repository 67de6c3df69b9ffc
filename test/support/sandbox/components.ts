import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { Kubelet, type KubeletOptions } from './kubelet.ts';
import { schedulePods } from './scheduler.ts';

/**
 * Returns stand-ins for components that a sandbox lacks.
 * @param kubelet simulates the kubelet of some nodes; pods of other nodes remain unchanged
 * @param scheduler binds pods to nodes; otherwise tests set nodeName
 */
export const standIns = ({
  kubelet,
  scheduler = false,
}: {
  kubelet?: KubeletOptions;
  scheduler?: boolean;
}): Pick<SandboxOptions, 'components' | 'kubeletNodes'> => ({
  components: [
    (cluster) => {
      if (scheduler) schedulePods(cluster);
      const runs = kubelet && new Kubelet(cluster, kubelet);
      return () => runs?.stop() ?? Promise.resolve();
    },
  ],
  kubeletNodes: kubelet?.nodes ?? [],
});
