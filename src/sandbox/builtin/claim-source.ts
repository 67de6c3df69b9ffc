import type { FeatureGates } from '../../api/feature-gates.ts';
import type { Cause } from '../kind.ts';
import { labelFaults, subdomainFaults } from '../objects/formats.ts';
import { invalidValue, quoted, requiredValue } from '../refusal.ts';
import type { Fields } from './plain.ts';

/** spec.dataSource and spec.dataSourceRef of a claim (KEP-1495), as they come from their Go types. */
interface DataSourceFields {
  apiGroup: string | null;
  kind: string;
  name: string;
  /** Of the second alone. */
  namespace?: string;
}

interface Sources {
  dataSource?: DataSourceFields;
  dataSourceRef?: DataSourceFields;
}

/**
 * What the API server makes of both before it looks whether they are right (pkg/api/persistentvolumeclaim), in place:
 * what it has no gate for goes, and so does what nobody could mean by the older field; then either is filled in from the
 * other. `old`: the spec that is replaced.
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

/** What the older field could name before there was the newer one: anything else was dropped. */
const isOfOld = (source: DataSourceFields | undefined) =>
  source !== undefined &&
  [':PersistentVolumeClaim', 'snapshot.storage.k8s.io:VolumeSnapshot'].includes(
    `${source.apiGroup ?? ''}:${source.kind}`,
  );

/** NormalizeDataSources. The older field cannot name a namespace. */
function normalize(sources: Sources): void {
  const { dataSource, dataSourceRef } = sources;
  if (dataSource !== undefined) sources.dataSourceRef ??= { ...dataSource };
  else if (dataSourceRef !== undefined && !hasNamespace(dataSourceRef)) {
    const { namespace: _, ...local } = dataSourceRef;
    sources.dataSource = local;
  }
}

/** What ValidatePersistentVolumeClaimSpec finds wrong with both. */
export function sourceCauses(spec: Fields): Cause[] {
  const { dataSource, dataSourceRef } = spec as Sources;
  const both = dataSource !== undefined && dataSourceRef !== undefined;
  // The value that it shows is a path of the server's own, of which JSON tells nothing.
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
