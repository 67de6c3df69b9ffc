import type { DataSourceReference, PersistentVolumeClaim, Pod } from '../api/core.ts';
import type { ObjectMeta } from '../api/meta.ts';

/**
 * Bounds of fields that no API server bounds: an account that may create claims writes hundreds of kilobytes into one, and a thousand
 * of those are more memory than the daemon has. Controllers read much shorter values, and a name that is cut names no object.
 */

type Owners = NonNullable<ObjectMeta['ownerReferences']>;

/** Names have 253 characters at most. */
const NAME = 254;
const ANNOTATION = 2048;
const SELECTOR = 1024;
const OWNERS = 4;
const FINALIZERS = 16;
/** No qualified name. */
const CUT = '…';
const TOLERATIONS = 64;
const VOLUMES = 256;
const PATH = 4096;

export const cut = (text: string): string => text.slice(0, NAME);

/** Annotations that are longer are none of those that controllers read. */
export const isShort = (value: string): boolean => value.length <= ANNOTATION;

export const boundedOwners = (owners: Owners): Owners =>
  owners.slice(0, OWNERS).map((owner) => ({
    ...owner,
    apiVersion: cut(owner.apiVersion),
    kind: cut(owner.kind),
    name: cut(owner.name),
    uid: cut(owner.uid),
  }));

/**
 * Finalizers are written back as a list, which replaces all there are. So a list that is cut ends with one that is no name, which
 * kube/client.ts does not write: no finalizer of others is lost.
 */
export function boundedFinalizers(finalizers: readonly string[]): string[] {
  const kept = finalizers.filter(({ length }) => length <= 2 * NAME).slice(0, FINALIZERS);
  return kept.length === finalizers.length ? kept : [...kept, CUT];
}

const boundedReference = (reference: DataSourceReference): DataSourceReference =>
  Object.fromEntries(
    (['apiGroup', 'kind', 'name', 'namespace'] as const)
      .filter((key) => typeof reference[key] === 'string')
      .map((key) => [key, cut(reference[key] as string)]),
  ) as unknown as DataSourceReference;

/** The data source in the manifest that kubectl applied: no more of that is read. */
export const boundedManifest = (
  { name, namespace }: ObjectMeta,
  dataSourceRef: DataSourceReference,
): string =>
  JSON.stringify({
    metadata: { name, namespace },
    spec: { dataSourceRef: boundedReference(dataSourceRef) },
  });

/** A selector that is longer is kept as one that selects nothing in particular: that there is one counts. */
export function boundedClaimSpec(
  spec: PersistentVolumeClaim['spec'],
): PersistentVolumeClaim['spec'] {
  const { accessModes, resources, selector, dataSource, dataSourceRef, ...rest } = spec;
  const texts = Object.entries(rest).filter(([, value]) => typeof value === 'string') as [
    string,
    string,
  ][];
  const { requests, limits } = resources ?? {};
  const storageOf = (each: { storage?: string } = {}) =>
    each.storage === undefined ? {} : { storage: each.storage };
  return {
    ...Object.fromEntries(texts.map(([key, value]) => [key, cut(value)])),
    ...(accessModes === undefined ? {} : { accessModes: [...new Set(accessModes)].map(cut) }),
    ...(resources && {
      resources: {
        ...(requests && { requests: storageOf(requests) }),
        ...(limits && { limits: storageOf(limits) }),
      },
    }),
    ...(selector === undefined
      ? {}
      : { selector: JSON.stringify(selector).length > SELECTOR ? {} : selector }),
    ...(dataSource == null ? {} : { dataSource: boundedReference(dataSource) }),
    ...(dataSourceRef == null ? {} : { dataSourceRef: boundedReference(dataSourceRef) }),
  };
}

type Volumes = NonNullable<Pod['spec']['volumes']>;

export const boundedVolumes = (volumes: Volumes): Volumes =>
  volumes.slice(0, VOLUMES).map(({ name, persistentVolumeClaim, hostPath, ...rest }) => ({
    ...rest,
    name: cut(name),
    ...(persistentVolumeClaim && {
      persistentVolumeClaim: { claimName: cut(persistentVolumeClaim.claimName) },
    }),
    ...(hostPath && { hostPath: { ...hostPath, path: hostPath.path.slice(0, PATH) } }),
  }));

type Tolerations = NonNullable<Pod['spec']['tolerations']>;

export const boundedTolerations = (tolerations: Tolerations): Tolerations =>
  tolerations.slice(0, TOLERATIONS).map((each) => ({
    ...each,
    ...(each.key === undefined ? {} : { key: each.key.slice(0, 2 * NAME) }),
    ...(each.value === undefined ? {} : { value: cut(each.value) }),
  }));
