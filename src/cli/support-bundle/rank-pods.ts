import type { KubeObject } from '../../api/meta.ts';

/**
 * Returns pods with the label of a daemon, those of the daemon first: anyone may label pods. Pods
 * in namespaces of both a Lease and a Deployment of a daemon precede those with one of them, and
 * the latter precede others. In between, namespaces take turns, so that a tenant who has such
 * objects displaces no other namespace. In a namespace, pods of a Deployment are first. Pure.
 */
export function rankPods<T extends KubeObject>(
  pods: readonly T[],
  deployments: readonly KubeObject[],
  leases: readonly KubeObject[],
): T[] {
  const namespacesOf = (objects: readonly KubeObject[]) =>
    new Set(objects.map(({ metadata }) => metadata.namespace));
  const marks = [namespacesOf(deployments), namespacesOf(leases)];
  const byNamespace = Map.groupBy(pods, ({ metadata }) => metadata.namespace);
  return [...byNamespace]
    .flatMap(([namespace, there]) => {
      const missing = marks.filter((mark) => !mark.has(namespace)).length;
      return there
        .toSorted((a, b) => Number(isOwned(b, deployments)) - Number(isOwned(a, deployments)))
        .map((pod, turn) => ({ pod, missing, turn }));
    })
    .toSorted((a, b) => a.missing - b.missing || a.turn - b.turn)
    .map(({ pod }) => pod);
}

/** Reports whether a pod's ReplicaSet has the name of a Deployment: `NAME-HASH`. */
function isOwned({ metadata }: KubeObject, deployments: readonly KubeObject[]): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const deployment = owner?.kind === 'ReplicaSet' ? owner.name.replace(/-[^-]*$/, '') : undefined;
  return deployments.some(
    (each) => each.metadata.name === deployment && each.metadata.namespace === metadata.namespace,
  );
}
