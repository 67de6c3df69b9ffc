import type { Deployment, Lease } from '../../api/core.ts';
import { isHeld, leaderOf, leaderText, leasesOfDaemons } from '../../api/leader.ts';
import { COMPONENT } from '../../api/names.ts';
import type { Check } from '../check-node/report.ts';

/** Whether a daemon leads. `now` in ms since the epoch. Pure. */
export function daemonChecks(
  leases: readonly Lease[],
  deployments: readonly Deployment[],
  now: number,
): Check[] {
  const held = leasesOfDaemons(leases).filter((lease) => isHeld(lease, now));
  const check = { check: 'daemon', ok: false };
  if (held.length === 0) return [{ ...check, ...absent(deployments) }];
  const everywhere = held.filter(({ metadata }) => metadata.name === COMPONENT);
  return [
    ...held.map((lease): Check => {
      const { metadata, spec } = lease;
      const leader = leaderOf(lease);
      const what = leader === undefined ? '' : `: ${leaderText(leader)}`;
      const by = `by the Lease ${metadata.namespace}/${metadata.name}`;
      return { ...check, ok: true, message: `${spec?.holderIdentity} leads, ${by}${what}` };
    }),
    ...(everywhere.length < 2
      ? []
      : [
          {
            ...check,
            message: `${everywhere.length} daemons lead at once, by Leases in the namespaces ${everywhere.map(({ metadata }) => metadata.namespace).join(', ')}`,
            hint: 'Stop all but those of one namespace: --leader-election-namespace has to be the same for all.',
          },
        ]),
  ];
}

/** What a cluster without a daemon that leads lacks. */
export function absent([deployment]: readonly Deployment[]): Pick<
  Check,
  'message' | 'hint' | 'command'
> {
  if (deployment === undefined) {
    return {
      message: 'no daemon leads, and none is installed',
      hint: 'Install it, or run stowage watch; one with --leader-election=false cannot be seen here.',
      command: 'stowage install',
    };
  }
  const { metadata, spec, status } = deployment;
  const { name, namespace } = metadata;
  return {
    message: `no daemon leads: ${status?.readyReplicas ?? 0} of ${spec?.replicas ?? 1} pods of the Deployment ${namespace}/${name} are ready`,
    hint: 'See what holds its pods up: the image, the Secret stowage-ssh, or what its log says.',
    command: `kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=${COMPONENT}; kubectl -n ${namespace} logs deployment/${name}`,
  };
}
