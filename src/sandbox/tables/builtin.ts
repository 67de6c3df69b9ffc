import type { Column } from '../kind.ts';
import { AGE, count, type Loose, selectorText, since, size, text, wide } from './cells.ts';
import { NODE_COLUMNS } from './node.ts';
import { POD_COLUMNS } from './pod.ts';
import { CLAIM_COLUMNS, CLASS_COLUMNS, DRIVER_COLUMNS, VOLUME_COLUMNS } from './storage.ts';

const subjects = (kind: string) => (object: Loose) =>
  (object.subjects ?? [])
    .filter((one: Loose) => one.kind === kind)
    .map((one: Loose) => (kind === 'ServiceAccount' ? `${one.namespace}/${one.name}` : one.name))
    .join(',');

const BINDING_COLUMNS = [
  text('Role', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  AGE,
  wide(text('Users', subjects('User'))),
  wide(text('Groups', subjects('Group'))),
  wide(text('ServiceAccounts', subjects('ServiceAccount'))),
];

const containers = (field: string) => (object: Loose) =>
  (object.spec.template.spec.containers ?? []).map((one: Loose) => one[field] ?? '').join(',');

/** Columns of Kubernetes' printers for the served kinds, after the name, as in 1.32. */
const COLUMNS: Record<string, Column[]> = {
  Namespace: [text('Status', ({ status }) => status?.phase), AGE],
  Node: NODE_COLUMNS,
  Pod: POD_COLUMNS,
  PersistentVolume: VOLUME_COLUMNS,
  PersistentVolumeClaim: CLAIM_COLUMNS,
  StorageClass: CLASS_COLUMNS,
  CSIDriver: DRIVER_COLUMNS,
  ServiceAccount: [AGE],
  ConfigMap: [count('Data', ({ data, binaryData }) => size(data) + size(binaryData)), AGE],
  Secret: [text('Type', ({ type }) => type), count('Data', ({ data }) => size(data)), AGE],
  Lease: [text('Holder', ({ spec }) => spec?.holderIdentity ?? ''), AGE],
  NetworkPolicy: [
    text('Pod-Selector', ({ spec }) => selectorText(spec?.podSelector?.matchLabels)),
    AGE,
  ],
  ClusterRoleBinding: BINDING_COLUMNS,
  RoleBinding: BINDING_COLUMNS,
  Deployment: [
    text('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`),
    count('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0),
    count('Available', ({ status }) => status?.availableReplicas ?? 0),
    AGE,
    wide(text('Containers', containers('name'))),
    wide(text('Images', containers('image'))),
    wide(text('Selector', ({ spec }) => selectorText(spec.selector?.matchLabels))),
  ],
};

/** Columns of an Event before the name, which comes last. */
export const EVENT_COLUMNS: Column[] = [
  text('Last Seen', (event, now) =>
    since(event.series?.lastObservedTime ?? event.lastTimestamp ?? firstSeen(event), now),
  ),
  text('Type', ({ type }) => type ?? ''),
  text('Reason', ({ reason }) => reason ?? ''),
  text('Object', ({ involvedObject: { kind = '', name } }) =>
    name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase(),
  ),
  wide(text('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? '')),
  wide(text('Source', sourceOf)),
  text('Message', ({ message }) => (message ?? '').trim()),
  wide(text('First Seen', (event, now) => since(firstSeen(event), now))),
  wide(count('Count', ({ series, count }) => series?.count ?? (count || 1))),
];

function firstSeen({ firstTimestamp, eventTime }: Loose): string | undefined {
  return firstTimestamp ?? eventTime;
}

function sourceOf({ source, reportingComponent, reportingInstance }: Loose): string {
  const component = source?.component || reportingComponent || '';
  const host = source?.host || reportingInstance || '';
  return host === '' ? component : `${component}, ${host}`;
}

export function builtinColumns(kind: string): Column[] {
  return (
    COLUMNS[kind] ?? [
      {
        name: 'Created At',
        type: 'date',
        cell: ({ metadata }) => metadata.creationTimestamp ?? null,
      },
    ]
  );
}
