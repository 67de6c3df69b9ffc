import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { Kubelet, type KubeletOptions } from './kubelet.ts';
import { schedulePods } from './scheduler.ts';

/**
 * Stand-ins for what a sandbox lacks.
 * @param kubelet of some nodes, whose pods are run, in a manner of speaking; the pods of others stay as they are
 * @param scheduler whether pods without a node are given one; else their nodeName is set by hand
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
