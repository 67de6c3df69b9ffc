import type { ReferenceGrant } from '../../api/snapshot.ts';
import { isGranted } from '../../model/data-source/grant.ts';
import { type GrantedTo, referrer, whatOf } from '../lib/objects/grant-kinds.ts';
import { grantees } from './row.ts';

type To = ReferenceGrant['spec']['to'][number];

/**
 * Returns what each namespace loses if a grant of snapshots or claims is revoked, as sentences: not
 * what another grant allows, too. Pure.
 * @param others grants of the same namespace, which may include the grant itself; undefined if they
 *   are unknown
 */
export function accessLost(
  grant: ReferenceGrant,
  others: readonly ReferenceGrant[] | undefined,
): string[] {
  const { name: own, namespace = '' } = grant.metadata;
  const remaining = (others ?? []).filter(({ metadata }) => metadata.name !== own);
  const whatOfNamespace = (from: string): GrantedTo[] => [
    ...new Set(
      grant.spec.from.flatMap((each) =>
        each.namespace === from ? (whatOf(each) ?? []) : ([] as GrantedTo[]),
      ),
    ),
  ];
  const suffix = others === undefined ? ', unless another grant allows it' : '';
  return grantees(grant).flatMap((from) => {
    const lost = grant.spec.to.flatMap((to) => {
      const { group, kind, name = '' } = to;
      // Only a grant of all objects matches an empty name.
      const what = whatOfNamespace(from).filter(
        (each) => !isGranted(remaining, referrer(each, from), { group, kind, namespace, name }),
      );
      return what.length === 0 ? [] : [`${targetText(namespace, to)} (${what.join(', ')})`];
    });
    return lost.length === 0
      ? []
      : [`namespace ${from} loses access to ${lost.join(' and ')}${suffix}`];
  });
}

const targetText = (namespace: string, { kind, name }: To): string =>
  name ? `${kind} ${namespace}/${name}` : `all ${kind}s of namespace ${namespace}`;
