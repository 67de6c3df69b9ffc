import type { PersistentVolumeClaim } from '../../api/core.ts';
import type { ReferenceGrant, VolumeSnapshotLink } from '../../api/snapshot.ts';
import { dataSourceOf } from '../../model/data-source/data-source.ts';
import { isGranted } from '../../model/data-source/grant.ts';
import { type GrantedTo, referrer, SNAPSHOT_TYPE, whatOf } from '../lib/objects/grant-kinds.ts';

type From = ReferenceGrant['spec']['from'][number];
type To = ReferenceGrant['spec']['to'][number];

/** As docs/output.md has it: who may use which snapshots, and who does. */
export interface GrantRow {
  name: string;
  namespace: string;
  from: { namespace: string; for: GrantedTo }[];
  /** Without a name: all of the kind. */
  to: { kind: 'VolumeSnapshot' | 'PersistentVolumeClaim'; name?: string }[];
  usedBy: GrantUse[];
  /** RFC 3339. */
  since?: string;
}

export interface GrantUse {
  kind: 'PersistentVolumeClaim' | 'VolumeSnapshotLink';
  namespace: string;
  name: string;
  /** What it refers to, in the namespace of the grant. */
  source: string;
  /** Of a claim. */
  phase?: string;
  /** Of a claim: the link by which it refers to it. */
  link?: string;
}

/** What refers to something, of one namespace. */
export interface Referrers {
  claims: readonly PersistentVolumeClaim[];
  links: readonly VolumeSnapshotLink[];
}

const CLAIM_TYPE = { group: '', kind: 'PersistentVolumeClaim' } as const;
const sourceKind = ({ group, kind }: To): GrantRow['to'][number]['kind'] | undefined =>
  [SNAPSHOT_TYPE, CLAIM_TYPE].find((type) => type.group === group && type.kind === kind)?.kind;

/** Whether a grant lets volumes start from something: grants of Gateway API are others. */
export const isOfVolumes = Object.assign(
  ({ spec }: ReferenceGrant): boolean =>
    (spec.from ?? []).some((from) => isOfVolumes.from(from)) &&
    (spec.to ?? []).some((to) => isOfVolumes.to(to)),
  {
    from: (from: From): boolean => whatOf(from) !== undefined,
    to: (to: To): boolean => sourceKind(to) !== undefined,
  },
);

/** The namespaces that a grant lets refer to something. */
export const grantees = ({ spec }: ReferenceGrant): string[] => [
  ...new Set(spec.from.filter(isOfVolumes.from).map(({ namespace }) => namespace)),
];

/** `referrers`: by namespace; of one that may not be read there are none. */
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
