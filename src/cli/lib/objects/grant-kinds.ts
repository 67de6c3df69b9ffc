import { StowageError } from '../../../api/errors.ts';
import type { Resource } from '../../../api/meta.ts';
import { REFERENCE_GRANT_VERSIONS, SNAPSHOT_GROUP } from '../../../api/names.ts';
import { REFERENCE_GRANTS } from '../../../api/resources.ts';
import type { Connection } from '../../../kube/connect.ts';
import { servedAs } from '../../../kube/discovery.ts';
import type { Referrer } from '../../../model/data-source/grant.ts';

/** Names of the kinds that may refer to a snapshot, as in `--for`. */
export type GrantedTo = 'claims' | 'links';
export const GRANTED_TO: readonly GrantedTo[] = ['claims', 'links'];

/** Returns the kinds that `--for` selects; without it, both. */
export const grantedTo = (only: GrantedTo | undefined): readonly GrantedTo[] =>
  only === undefined ? GRANTED_TO : [only];

const KINDS: Record<GrantedTo, { group: string; kind: string }> = {
  claims: { group: '', kind: 'PersistentVolumeClaim' },
  links: { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshotLink' },
};

export const referrer = (what: GrantedTo, namespace: string): Referrer => ({
  ...KINDS[what],
  namespace,
});

/** Returns the name of a kind; undefined for any other kind. */
export const whatOf = ({ group, kind }: Pick<Referrer, 'group' | 'kind'>): GrantedTo | undefined =>
  GRANTED_TO.find((what) => KINDS[what].group === group && KINDS[what].kind === kind);

export const SNAPSHOT_TYPE = { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshot' } as const;

type Ask = Pick<Connection, 'transport'>;

/** Returns ReferenceGrant in the version that the cluster serves; undefined if it serves none. */
export const servedGrants = (
  { transport }: Ask,
  signal: AbortSignal,
): Promise<Resource | undefined> =>
  servedAs(transport, REFERENCE_GRANTS, REFERENCE_GRANT_VERSIONS, signal);

/** Same as `servedGrants`, but throws a StowageError `not-found` if no version is served. */
export async function requiredGrants(connection: Ask, signal: AbortSignal): Promise<Resource> {
  const served = await servedGrants(connection, signal);
  if (served !== undefined) return served;
  throw new StowageError('not-found', 'This cluster has no ReferenceGrants', {
    hint: 'Install their definition: stowage install --components referencegrant-crd',
  });
}
