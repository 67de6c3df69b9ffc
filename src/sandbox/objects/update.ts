import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '../../api/meta.ts';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import {
  badRequest,
  conflict,
  forbidden,
  invalid,
  invalidValue,
  resourceName,
} from '../refusal.ts';
import { keyOf } from '../store.ts';
import { type Cluster, countsGenerations, readerOf, settle, type WriteOptions } from './cluster.ts';
import { check } from './create.ts';
import { settleNamespace } from './metadata.ts';

/** Fields of the metadata that no update changes. */
const KEPT = [
  'uid',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/**
 * Replaces an object by a decoded one. Writes nothing if nothing differs, as the API server.
 * `status`: through the status subresource. Throws 400, 403, 409 or 422.
 */
export function replace(
  cluster: Cluster,
  kind: Kind,
  old: StoredObject,
  given: StoredObject,
  status: boolean,
  options: WriteOptions,
): StoredObject {
  const { name } = old.metadata;
  if (given.metadata.name !== name)
    throw badRequest(
      given.metadata.name === undefined
        ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
        : `the name of the object (${given.metadata.name}) does not match the name on the URL (${name})`,
    );
  checkVersion(kind, old, given.metadata);
  const next = merged(kind, old, given, status);
  if (!status) kind.prepareUpdate?.(next, old, cluster.gates);
  if (isDeepStrictEqual(next, old)) return old;
  if (countsGenerations(kind) && specDiffers(kind, old, next))
    next.metadata = { ...next.metadata, generation: (old.metadata.generation ?? 0) + 1 };
  const late = finalizerCauses(old.metadata, next.metadata);
  // The API server reports these causes twice if it validates by a schema as well.
  const causes = [
    ...late,
    ...(kind.custom ? late : []),
    ...(status ? ofStatus : all)(check(kind, next, old)),
  ];
  if (causes.length > 0) throw invalid(kind, name, causes);
  kind.admit?.(next, old, readerOf(cluster));
  if (options.dryRun) return next;
  const table = resourceName(kind);
  const stored = settle(cluster, table, next);
  const isThere = cluster.store.get(table, keyOf(next.metadata.namespace, name)) !== undefined;
  // An object that this update removes is returned with its previous version.
  return isThere ? stored : next;
}

const all = (causes: Cause[]) => causes;

/**
 * Shortens the paths in causes about a status: its part of a custom
 * resource's schema is checked by itself.
 */
const ofStatus = (causes: Cause[]) =>
  causes.map((cause) => ({
    ...cause,
    text: cause.text.replace(/: status\.(\S+ in body)/, ': $1'),
  }));

function checkVersion(kind: Kind, old: StoredObject, given: ObjectMeta): void {
  const { name } = old.metadata;
  if (given.uid !== undefined && given.uid !== old.metadata.uid)
    throw conflict(
      kind,
      name,
      `StorageError: invalid object, Code: 4, Key: /registry/${registryKey(kind, old)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${old.metadata.uid}`,
    );
  if (given.resourceVersion === undefined || given.resourceVersion === '0') {
    if (kind.custom)
      throw invalid({ ...kind, kind: kind.plural }, name, [
        invalidValue('metadata.resourceVersion', '0', 'must be specified for an update'),
      ]);
  } else if (given.resourceVersion !== old.metadata.resourceVersion)
    throw conflict(
      kind,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
}

const registryKey = ({ group, plural }: Kind, { metadata: { namespace, name } }: StoredObject) =>
  [group, plural, namespace, name].filter(Boolean).join('/');

function merged(kind: Kind, old: StoredObject, given: StoredObject, status: boolean): StoredObject {
  // A write of the status includes the metadata for built-in kinds, but not for custom resources.
  if (status && kind.custom) return withStatus(old, given.status);
  const metadata: ObjectMeta = { ...given.metadata };
  for (const field of KEPT) {
    delete metadata[field];
    if (old.metadata[field] !== undefined)
      Object.assign(metadata, { [field]: old.metadata[field] });
  }
  const { resourceVersion, namespace } = old.metadata;
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
  settleNamespace(metadata, namespace);
  if (status) return { ...withStatus(old, given.status), metadata };
  const next = { ...given, metadata };
  return kind.statusSubresource ? withStatus(next, old.status) : next;
}

function withStatus(object: StoredObject, status: unknown): StoredObject {
  const { status: _, ...rest } = object;
  return (status === undefined ? rest : { ...rest, status }) as StoredObject;
}

function specDiffers(kind: Kind, old: StoredObject, next: StoredObject): boolean {
  const spec = ({ metadata: _, status, ...rest }: StoredObject) =>
    kind.statusSubresource ? rest : { ...rest, status };
  return !isDeepStrictEqual(spec(old), spec(next));
}

function finalizerCauses(old: ObjectMeta, next: ObjectMeta) {
  const added = (next.finalizers ?? []).filter((name) => !old.finalizers?.includes(name));
  if (old.deletionTimestamp === undefined || added.length === 0) return [];
  const found = added.map((name) => JSON.stringify(name)).join(', ');
  return [
    forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${found}}`,
    ),
  ];
}
