import type { KubeNode } from './core.ts';
import { OUT_OF_SERVICE_TAINT } from './names.ts';

/**
 * Whether somebody vouches that the machine is off: the out-of-service taint is on its Node, and no kubelet says otherwise.
 * A kubelet that reports Ready is proof that the taint is a mistake, or of before.
 */
export function isOff({ spec, status }: KubeNode): boolean {
  const tainted = spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) ?? false;
  const ready =
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
  return tainted && !ready;
}
