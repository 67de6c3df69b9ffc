import type { FeatureGates } from '../../api/feature-gates.ts';
import type { Cause } from '../kind.ts';
import { labelFaults, subdomainFaults } from '../objects/formats.ts';
import { invalidValue, quoted, requiredValue } from '../refusal.ts';
import type { Fields } from './plain.ts';

/**
 * Value of spec.dataSource or spec.dataSourceRef of a claim (KEP-1495), as decoded by its Go type.
 */
interface DataSourceFields {
  apiGroup: string | null;
  kind: string;
  name: string;
  /** Only in dataSourceRef. */
  namespace?: string;
}

interface Sources {
  dataSource?: DataSourceFields;
  dataSourceRef?: DataSourceFields;
}

/**
 * Prepares both fields before validation, in place, as the API server does
 * (pkg/api/persistentvolumeclaim). Drops dataSourceRef without its gate, and a dataSource of a kind
 * that came later; then fills either field from the other. `old`: the replaced spec.
 */
export function prepareSources(spec: Fields, old: Fields | undefined, gates: FeatureGates): void {
  const sources = spec as Sources;
  const before = (old ?? {}) as Sources;
  const isAcross = hasNamespace(sources.dataSourceRef);
  if (isAcross && !gates.CrossNamespaceVolumeDataSource && before.dataSourceRef === undefined)
    delete sources.dataSourceRef;
  const { dataSource, dataSourceRef } = sources;
  const hadOne = before.dataSource !== undefined || before.dataSourceRef !== undefined;
  if (!hadOne && dataSourceRef === undefined && !isOfOld(dataSource)) delete sources.dataSource;
  normalize(sources);
}

const hasNamespace = (source: DataSourceFields | undefined) => (source?.namespace ?? '') !== '';

/**
 * Reports whether dataSource names a kind that it supported before
 * dataSourceRef existed. Others are dropped.
 */
const isOfOld = (source: DataSourceFields | undefined) =>
  source !== undefined &&
  [':PersistentVolumeClaim', 'snapshot.storage.k8s.io:VolumeSnapshot'].includes(
    `${source.apiGroup ?? ''}:${source.kind}`,
  );

/**
 * Fills either field from the other, as NormalizeDataSources. dataSource cannot name a namespace.
 */
function normalize(sources: Sources): void {
  const { dataSource, dataSourceRef } = sources;
  if (dataSource !== undefined) sources.dataSourceRef ??= { ...dataSource };
  else if (dataSourceRef !== undefined && !hasNamespace(dataSourceRef)) {
    const { namespace: _, ...local } = dataSourceRef;
    sources.dataSource = local;
  }
}

/** Returns the causes that ValidatePersistentVolumeClaimSpec finds in both fields. */
export function sourceCauses(spec: Fields): Cause[] {
  const { dataSource, dataSourceRef } = spec as Sources;
  const both = dataSource !== undefined && dataSourceRef !== undefined;
  // The API server shows a field path as the value, which is empty in JSON.
  const refused = (why: string) => [invalidValue('spec', '{}', why)];
  return [
    ...causesOf(dataSource, 'spec.dataSource'),
    ...causesOf(dataSourceRef, 'spec.dataSourceRef'),
    ...(!both
      ? []
      : hasNamespace(dataSourceRef)
        ? refused('may not be specified when dataSourceRef.namespace is specified')
        : isSame(dataSource, dataSourceRef)
          ? []
          : refused('must match dataSourceRef')),
  ];
}

const isSame = (a: DataSourceFields, b: DataSourceFields) =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;

function causesOf(source: DataSourceFields | undefined, path: string): Cause[] {
  if (source === undefined) return [];
  const { name, kind, apiGroup, namespace } = source;
  const group = apiGroup ?? '';
  const faults = (field: string, value: string, found: string[]) =>
    found.map((fault) => invalidValue(`${path}.${field}`, quoted(value), fault));
  return [
    ...(name === '' ? [requiredValue(`${path}.name`)] : []),
    ...(kind === '' ? [requiredValue(`${path}.kind`)] : []),
    ...(group === '' && kind !== 'PersistentVolumeClaim'
      ? [
          invalidValue(
            path,
            quoted(kind),
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
          ),
        ]
      : []),
    ...(group === '' ? [] : faults('apiGroup', group, subdomainFaults(group))),
    ...(namespace ? faults('namespace', namespace, labelFaults(namespace)) : []),
  ];
}
