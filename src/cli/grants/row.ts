import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { ReferenceGrant, VolumeSnapshotLink } from '../../api/snapshot.ts';
import { dataSourceOf } from '../../model/data-source/data-source.ts';
import { isGranted } from '../../model/data-source/grant.ts';
import { type GrantedTo, referrer, SNAPSHOT_TYPE, whatOf } from '../lib/objects/grant-kinds.ts';

type From = ReferenceGrant['spec']['from'][number];
type To = ReferenceGrant['spec']['to'][number];

/** Row as docs/output.md describes it: who may use which snapshots, and who does. */
export interface GrantRow {
  name: string;
  namespace: string;
  from: { namespace: string; for: GrantedTo }[];
  /** No name means all objects of the kind. */
  to: { kind: 'VolumeSnapshot' | 'PersistentVolumeClaim'; name?: string }[];
  usedBy: GrantUse[];
  /** RFC 3339. */
  since?: string;
}

export interface GrantUse {
  kind: 'PersistentVolumeClaim' | 'VolumeSnapshotLink';
  namespace: string;
  name: string;
  /** Name of the referenced object, in the namespace of the grant. */
  source: string;
  /** Set for claims only. */
  phase?: string;
  /** Link through which a claim refers to the source. */
  link?: string;
}

/** Claims and links of a namespace. */
export interface Referrers {
  claims: readonly PersistentVolumeClaim[];
  links: readonly VolumeSnapshotLink[];
}

const CLAIM_TYPE = { group: '', kind: 'PersistentVolumeClaim' } as const;
const sourceKind = ({ group, kind }: To): GrantRow['to'][number]['kind'] | undefined =>
  [SNAPSHOT_TYPE, CLAIM_TYPE].find((type) => type.group === group && type.kind === kind)?.kind;

/** Reports whether a grant is for sources of volumes; grants of Gateway API are not. */
export const isOfVolumes = Object.assign(
  ({ spec }: ReferenceGrant): boolean =>
    (spec.from ?? []).some((from) => isOfVolumes.from(from)) &&
    (spec.to ?? []).some((to) => isOfVolumes.to(to)),
  {
    from: (from: From): boolean => whatOf(from) !== undefined,
    to: (to: To): boolean => sourceKind(to) !== undefined,
  },
);

/** Returns the namespaces that a grant lets refer to sources of volumes. */
export const grantees = ({ spec }: ReferenceGrant): string[] => [
  ...new Set(spec.from.filter(isOfVolumes.from).map(({ namespace }) => namespace)),
];

/** Returns the row of a grant. `referrers` is by namespace; unreadable namespaces have none. */
export function rowOf(grant: ReferenceGrant, referrers: ReadonlyMap<string, Referrers>): GrantRow {
  const { name, namespace = '', creationTimestamp } = grant.metadata;
  return {
    name,
    namespace,
    from: grant.spec.from.flatMap((from) => {
      const what = whatOf(from);
      return what === undefined ? [] : [{ namespace: from.namespace, for: what }];
    }),
    to: grant.spec.to.flatMap((to) => {
      const kind = sourceKind(to);
      return kind === undefined ? [] : [{ kind, ...(to.name ? { name: to.name } : {}) }];
    }),
    usedBy: grantees(grant).flatMap((from) => usesOf(grant, from, referrers.get(from))),
    ...(creationTimestamp === undefined ? {} : { since: creationTimestamp }),
  };
}

function usesOf(
  grant: ReferenceGrant,
  from: string,
  { claims, links }: Referrers = { claims: [], links: [] },
): GrantUse[] {
  const home = grant.metadata.namespace ?? '';
  const byClaims = claims.flatMap((claim): GrantUse[] => {
    const source = dataSourceOf(claim, { crossNamespace: true });
    if ((source.kind !== 'snapshot' && source.kind !== 'claim') || source.namespace !== home)
      return [];
    const type = source.kind === 'snapshot' ? SNAPSHOT_TYPE : CLAIM_TYPE;
    if (
      !isGranted([grant], referrer('claims', from), { ...type, namespace: home, name: source.name })
    )
      return [];
    return [useOf(claim, source.name)];
  });
  const byLinks = links.flatMap(({ metadata: { name: link }, spec: { source } }): GrantUse[] => {
    const to = { ...SNAPSHOT_TYPE, namespace: home, name: source.name };
    if (source.namespace !== home || !isGranted([grant], referrer('links', from), to)) return [];
    const using = claims.filter((claim) => {
      const of = dataSourceOf(claim, { crossNamespace: true });
      return of.kind === 'link' && of.namespace === from && of.name === link;
    });
    return [
      { kind: 'VolumeSnapshotLink', namespace: from, name: link, source: source.name },
      ...using.map((claim): GrantUse => ({ ...useOf(claim, source.name), link })),
    ];
  });
  return [...byClaims, ...byLinks];
}

const useOf = ({ metadata, status }: PersistentVolumeClaim, source: string): GrantUse => ({
  kind: 'PersistentVolumeClaim',
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  source,
  phase: status?.phase ?? 'Pending',
});
