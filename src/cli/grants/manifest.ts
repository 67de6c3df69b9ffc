import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf, type Resource } from '../../api/meta.ts';
import type { ReferenceGrant } from '../../api/snapshot.ts';
import { type GrantedTo, referrer, SNAPSHOT_TYPE } from '../lib/objects/grant-kinds.ts';

export interface Wanted {
  /** Namespace of the snapshots. */
  namespace: string;
  /** undefined means all snapshots. */
  snapshot: string | undefined;
  /** The namespace that may use them. */
  to: string;
  what: readonly GrantedTo[];
}

/** Returns a name unique to snapshot and namespace: granting again finds the existing grant. */
export function nameFor({ snapshot, to }: Pick<Wanted, 'snapshot' | 'to'>): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([snapshot ?? null, to]))
    .digest('hex');
  // Names are limited to 253 characters, and a hyphen may not adjoin a dot.
  const short = (snapshot ?? 'all-snapshots').slice(0, 150).replace(/[.-]+$/, '');
  return `${short}-to-${to}-${hash.slice(0, 8)}`;
}

export function grantOf(wanted: Wanted, resource: Resource): ReferenceGrant {
  const { namespace, to, what } = wanted;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: nameFor(wanted), namespace },
    spec: { from: what.map((each) => referrer(each, to)), to: [targetOf(wanted)] },
  };
}

export const targetOf = ({ snapshot }: Pick<Wanted, 'snapshot'>) => ({
  ...SNAPSHOT_TYPE,
  ...(snapshot === undefined ? {} : { name: snapshot }),
});

/**
 * Returns `spec.from` of an existing grant with the missing entries. Returns undefined if `spec.to`
 * is different: every entry of `from` may use every entry of `to`.
 */
export function widened(
  { spec }: ReferenceGrant,
  wanted: Wanted,
): ReferenceGrant['spec']['from'] | undefined {
  const [target, ...others] = spec.to;
  if (others.length > 0 || !isDeepStrictEqual(target, targetOf(wanted))) return undefined;
  const missing = wanted.what
    .map((each) => referrer(each, wanted.to))
    .filter((each) => !spec.from.some((from) => isDeepStrictEqual(from, each)));
  return [...spec.from, ...missing];
}
