import { randomInt, randomUUID } from 'node:crypto';
import type { Kind, StoredObject } from '../kind.ts';
import { badRequest, type Cause, invalid, notAllowed, notFound, resourceName } from '../refusal.ts';
import { keyOf } from '../store.ts';
import {
  type Cluster,
  countsGenerations,
  insist,
  readerOf,
  timestamp,
  type WriteOptions,
} from './cluster.ts';
import { decode } from './decode.ts';
import { metadataCauses, settleNamespace } from './metadata.ts';
import { nameCauses } from './name.ts';

/** Without vowels and look-alikes, as the API server's own. */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Throws 400, 404 (no such namespace), 409 (exists) or 422. */
export function create(
  cluster: Cluster,
  kind: Kind,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions,
): StoredObject {
  const { object, unknown } = decode(kind, body);
  refuseUnknown(kind, unknown, options);
  settleNamespace(object.metadata, namespace);
  stamp(cluster, object);
  if (kind.custom && kind.statusSubresource) delete object.status;
  if (countsGenerations(kind)) object.metadata.generation = 1;
  kind.prepare?.(object);
  const causes = [...nameCauses(kind, object), ...check(kind, object)];
  if (causes.length > 0) throw invalid(kind, object.metadata.name, causes);
  if (namespace !== undefined) insistOnNamespace(cluster, kind, object, namespace);
  insist(cluster, kind, object);
  kind.admit?.(object, undefined, readerOf(cluster));
  return options.dryRun ? object : cluster.store.put(resourceName(kind), object);
}

/** Throws a 404 where there is none, and a 403 where it is being deleted. */
function insistOnNamespace(cluster: Cluster, kind: Kind, object: StoredObject, namespace: string): void {
  const home = cluster.kinds.byTable('namespaces');
  if (home === undefined) return;
  const found = cluster.store.get('namespaces', keyOf(undefined, namespace));
  if (found === undefined) throw notFound(home, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  throw notAllowed(
    kind,
    object.metadata.name,
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

/** What is wrong with an object by its own kind's rules; `old` is what it replaces. */
export function check(kind: Kind, object: StoredObject, old?: StoredObject): Cause[] {
  return [
    ...metadataCauses(object),
    ...(kind.validate?.(object, old) ?? []),
    ...(kind.schema?.validate(object, old) ?? []),
  ];
}

/** Throws a 400 for unknown fields when validation is strict. */
export function refuseUnknown(kind: Kind, unknown: string[], options: WriteOptions): void {
  const found = unknown.map((path) => `unknown field "${path}"`);
  if (options.fieldValidation === 'Warn') for (const text of found) options.warn(text);
  if (options.fieldValidation === 'Strict' && found.length > 0)
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${found.join(', ')}`,
    );
}

function stamp(cluster: Cluster, object: StoredObject): void {
  const { metadata } = object;
  if (metadata.name === undefined && metadata.generateName !== undefined) {
    const letters = Array.from({ length: 5 }, () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)]);
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
