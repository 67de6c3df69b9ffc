import type { DataSourceReference, PersistentVolumeClaim, Pod } from '../api/core.ts';
import type { KubeObject } from '../api/meta.ts';
import { droppedSource, LAST_APPLIED } from '../model/data-source/dropped-data-source.ts';

/**
 * Rules of cache-transforms.ts. Many bound fields that no API server bounds. An account that may
 * create claims can write hundreds of kilobytes into one, and a thousand of those exceed the
 * daemon's memory. Controllers read much shorter values, and a cut name names no object.
 */

/** Names have 253 characters at most. */
const NAME = 254;
const QUALIFIED_NAME = 2 * NAME;
const PATH = 4096;
const ANNOTATION = 2048;
const SELECTOR = 1024;
const FINALIZERS = 16;
/** Not a qualified name. */
const CUT = '…';

type Texts = Record<string, string>;

const cutAt = (length: number) => (text: unknown) =>
  typeof text === 'string' ? text.slice(0, length) : undefined;

export const cutName = cutAt(NAME);
export const cutQualifiedName = cutAt(QUALIFIED_NAME);
export const cutPath = cutAt(PATH);

export const distinctNames = (names: readonly string[]) =>
  [...new Set(names)].map((name) => name.slice(0, NAME));

export const atMost =
  (count: number) =>
  <T>(list: readonly T[]) =>
    list.slice(0, count);

export const where =
  <T>(test: (element: T) => boolean) =>
  (list: readonly T[]) =>
    list.filter(test);

export const unlessEmpty = <T extends object>(value: T): T | undefined =>
  Object.keys(value).length === 0 ? undefined : value;

/** Keeps the field, without its content. */
export const presence = () => ({});

/** Keeps only these keys of labels or annotations. */
export const only =
  (...keys: readonly string[]) =>
  (map: Texts): Texts => {
    const kept: Texts = {};
    for (const key of keys) {
      const value = map[key];
      if (value !== undefined) kept[key] = value;
    }
    return kept;
  };

/** Drops long annotations, which no controller reads. */
export const shortValues = (map: Texts): Texts =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value.length <= ANNOTATION));

/**
 * Limits a list of finalizers. Writing the list back replaces all finalizers. A cut list therefore
 * ends with an invalid name, which kube/client.ts does not write, so that no other finalizer is
 * lost.
 */
export function boundedFinalizers(finalizers: readonly string[]): string[] {
  const kept = finalizers.filter(({ length }) => length <= QUALIFIED_NAME).slice(0, FINALIZERS);
  return kept.length === finalizers.length ? kept : [...kept, CUT];
}

/** Replaces a long selector by an empty one: only its existence counts. */
export const emptyIfLong = (selector: object): object =>
  JSON.stringify(selector).length > SELECTOR ? {} : selector;

export const untilBound = <V>(value: V, { spec }: PersistentVolumeClaim): V | undefined =>
  spec.volumeName ? undefined : value;

export const untilScheduled = <V>(value: V, { spec }: Pod): V | undefined =>
  spec.nodeName ? undefined : value;

/**
 * Adds, until the claim is bound, the manifest that names the data source that the claim has lost.
 */
export function withLostSource(annotations: Texts, claim: PersistentVolumeClaim): Texts {
  const lost = claim.spec.volumeName ? undefined : droppedSource(claim);
  return lost === undefined
    ? annotations
    : { ...annotations, [LAST_APPLIED]: boundedManifest(claim, lost) };
}

/**
 * Returns only the data source of the manifest that kubectl applied: nothing else of it is read.
 */
function boundedManifest({ metadata }: KubeObject, reference: DataSourceReference): string {
  const { name, namespace } = metadata;
  const dataSourceRef = Object.fromEntries(
    (['apiGroup', 'kind', 'name', 'namespace'] as const).map((key) => [
      key,
      cutName(reference[key]),
    ]),
  );
  return JSON.stringify({ metadata: { name, namespace }, spec: { dataSourceRef } });
}
