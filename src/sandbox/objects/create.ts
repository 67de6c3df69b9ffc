import { randomInt, randomUUID } from 'node:crypto';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import { badRequest, invalid, notAllowed, notFound, Refusal, resourceName } from '../refusal.ts';
import { keyOf } from '../store.ts';
import {
  type Cluster,
  countsGenerations,
  insist,
  readerOf,
  timestamp,
  type WriteOptions,
} from './cluster.ts';
import { asGo, decode } from './decode.ts';
import { metadataCauses, settleNamespace } from './metadata.ts';
import { nameCauses } from './name.ts';

/** Letters of generated suffixes: no vowels, and none that look alike, as in the API server. */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Creates an object. Throws 400, 403, 404 (no such namespace), 409 (exists), 422 or 500. */
export function create(
  cluster: Cluster,
  kind: Kind,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions,
): StoredObject {
  const { object: given, unknown } = decode(kind, body);
  refuseUnknown(kind, unknown, options);
  settleNamespace(given.metadata, namespace);
  // Admission precedes validation.
  if (namespace !== undefined) insistOnNamespace(cluster, kind, given, namespace);
  if (given.metadata.resourceVersion !== undefined)
    throw new Refusal(500, '', 'resourceVersion should not be set on objects to be created');
  stamp(cluster, given);
  if (kind.custom && kind.statusSubresource) delete given.status;
  if (countsGenerations(kind)) given.metadata.generation = 1;
  kind.prepare?.(given, cluster.gates);
  const object = asGo(kind, given);
  const causes = check(kind, object, undefined, nameCauses(kind, object));
  if (causes.length > 0) throw invalid(kind, object.metadata.name ?? '', causes);
  warnOfFinalizers(object, options);
  insist(cluster, kind, object);
  kind.admit?.(object, undefined, readerOf(cluster));
  return options.dryRun ? object : cluster.store.put(resourceName(kind), object);
}

/** Throws a 404 if the namespace does not exist, and a 403 if it is being deleted. */
function insistOnNamespace(
  cluster: Cluster,
  kind: Kind,
  object: StoredObject,
  namespace: string,
): void {
  const home = cluster.kinds.byTable('namespaces');
  if (home === undefined) return;
  const found = cluster.store.get('namespaces', keyOf(undefined, namespace));
  if (found === undefined) throw notFound(home, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const { name, generateName = '' } = object.metadata;
  throw notAllowed(
    kind,
    name ?? generateName,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/**
 * Returns the causes by the rules of the object's kind, after `before`.
 * `old` is the replaced object.
 */
export function check(
  kind: Kind,
  object: StoredObject,
  old?: StoredObject,
  before: Cause[] = [],
): Cause[] {
  const causes = [...before, ...metadataCauses(object), ...(kind.validate?.(object, old) ?? [])];
  return [...causes, ...(kind.schema?.validate(object, old, causes) ?? [])];
}

/** Warns of unknown fields, or throws a 400 if validation is strict. */
export function refuseUnknown(kind: Kind, unknown: string[], options: WriteOptions): void {
  const found = unknown.map((path) => `unknown field "${path}"`);
  if (options.fieldValidation === 'Warn') for (const text of found) options.warn(text);
  if (options.fieldValidation === 'Strict' && found.length > 0)
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${found.join(', ')}`,
    );
}

/** Warns of finalizers without a domain, whose names may conflict. */
function warnOfFinalizers({ metadata }: StoredObject, { warn }: WriteOptions): void {
  for (const name of metadata.finalizers ?? [])
    if (
      !name.includes('/') &&
      name !== 'orphan' &&
      name !== 'foregroundDeletion' &&
      !name.includes('.')
    )
      warn(
        `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
      );
}

function stamp(cluster: Cluster, object: StoredObject): void {
  const { metadata } = object;
  if (metadata.name === undefined && metadata.generateName !== undefined) {
    const letters = Array.from(
      { length: 5 },
      () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)],
    );
    metadata.name = metadata.generateName + letters.join('');
  }
  metadata.uid = randomUUID();
  metadata.creationTimestamp = timestamp(cluster.now());
  for (const field of [
    'resourceVersion',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const)
    delete metadata[field];
}
