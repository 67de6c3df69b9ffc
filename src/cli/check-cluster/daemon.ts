import type { Deployment, Lease } from '../../api/core.ts';
import { isHeld, leaderOf, leaderText, leasesOfDaemons } from '../../api/leader.ts';
import { COMPONENT } from '../../api/names.ts';
import { noDaemon } from '../lib/checks/no-daemon.ts';
import type { Check } from '../lib/checks/report.ts';

/** Checks that a daemon leads, and only one for all nodes. `now` is in ms since the epoch. Pure. */
export function daemonChecks(
  leases: readonly Lease[],
  deployments: readonly Deployment[],
  now: number,
): Check[] {
  const held = leasesOfDaemons(leases).filter((lease) => isHeld(lease, now));
  const check = { check: 'daemon', ok: false };
  if (held.length === 0) {
    const { commands, ...why } = noDaemon(deployments);
    return [{ ...check, ...why, command: commands.join('; ') }];
  }
  const everywhere = held.filter(({ metadata }) => metadata.name === COMPONENT);
  return [
    ...held.map((lease): Check => {
      const { metadata, spec } = lease;
      const leader = leaderOf(lease);
      const what = leader === undefined ? '' : `: ${leaderText(leader)}`;
      const by = `with the Lease ${metadata.namespace}/${metadata.name}`;
      return { ...check, ok: true, message: `${spec?.holderIdentity} leads, ${by}${what}` };
    }),
    ...(everywhere.length < 2
      ? []
      : [
          {
            ...check,
            message: `${everywhere.length} daemons lead at once, with Leases in the namespaces ${everywhere.map(({ metadata }) => metadata.namespace).join(', ')}`,
            hint: 'Stop all but those of one namespace: --leader-election-namespace must be the same for all.',
          },
        ]),
  ];
}
