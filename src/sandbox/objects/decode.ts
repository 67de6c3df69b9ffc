import { apiVersionOf } from '../../api/meta.ts';
import { asGoStruct } from '../builtin/go-json.ts';
import { type Fields, isFields, sortedKeys } from '../json.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { badRequest, invalid, invalidValue } from '../refusal.ts';

/** Fields of ObjectMeta that clients may write; managedFields and selfLink are dropped. */
const METADATA = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
]);
const DROPPED = new Set(['managedFields', 'selfLink']);

/**
 * Decodes the object in a body, pruned and with defaults, with the paths of its unknown fields.
 * Throws 400 or 422 if the body is no object of this kind.
 */
export function decode(kind: Kind, body: unknown): { object: StoredObject; unknown: string[] } {
  if (!isFields(body)) throw badRequest('the body of the request is not a JSON object');
  const { apiVersion = apiVersionOf(kind), kind: name = kind.kind, ...rest } = body;
  if (kind.custom) checkKind(kind, body);
  if (apiVersion !== apiVersionOf(kind))
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${apiVersionOf(kind)})`,
    );
  if (name !== kind.kind)
    throw badRequest(
      `the kind in the data (${String(name)}) does not match the expected kind (${kind.kind})`,
    );
  const { metadata, unknown } = decodeMetadata(kind, rest.metadata);
  const object = asGo(kind, { ...rest, ...typeOf(kind), metadata }, unknown);
  unknown.push(...(kind.schema?.prune(object) ?? []));
  kind.schema?.fillDefaults(object);
  kind.fillDefaults?.(object);
  // An object without a Go type is a map, whose keys Go writes in order. Metadata has a type.
  const ordered = kind.custom ? { ...(sortedKeys(object) as StoredObject), metadata } : object;
  return { object: ordered, unknown };
}

/**
 * Checks the kind of a custom resource: no Go type identifies a body
 * without a kind. Throws 400 or 422.
 */
function checkKind(kind: Kind, body: Fields): void {
  const missing =
    body.kind === undefined ? 'Kind' : body.apiVersion === undefined ? 'apiVersion' : undefined;
  const text = JSON.stringify(body);
  if (missing !== undefined)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): Object '${missing}' is missing in '${text}' (${text.length > 30 ? `${text.slice(0, 30)} ...` : text})`,
    );
  const { name = '' } = (body.metadata ?? {}) as { name?: string };
  if (body.kind !== kind.kind && body.apiVersion === apiVersionOf(kind))
    throw invalid({ ...kind, kind: String(body.kind) }, name, [
      invalidValue('kind', JSON.stringify(body.kind), `must be ${kind.kind}`),
    ]);
}

const typeOf = (kind: Kind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });

/**
 * Converts an object of a built-in kind as its Go type does; adds unknown
 * fields to `unknown`. Throws a 400.
 */
export function asGo(kind: Kind, object: StoredObject, unknown: string[] = []): StoredObject {
  if (kind.custom) return object;
  const { metadata, ...rest } = object;
  return { ...asGoStruct(kind.kind, rest, unknown), ...typeOf(kind), metadata };
}

function decodeMetadata(
  { kind, version }: Kind,
  given: unknown,
): { metadata: StoredObject['metadata']; unknown: string[] } {
  const refuse = (why: string) =>
    badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${why}`,
    );
  if (given !== undefined && !isFields(given))
    throw refuse(`${typeName(given)} into Go value of type v1.ObjectMeta`);
  const metadata: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [field, value] of Object.entries(given ?? {})) {
    if (METADATA.has(field)) {
      if (value !== null && !isEmpty(value)) metadata[field] = value;
    } else if (!DROPPED.has(field)) unknown.push(`metadata.${field}`);
  }
  for (const [field, isRight] of Object.entries(SHAPES)) {
    if (metadata[field] !== undefined && !isRight(metadata[field]))
      throw refuse(
        `${typeName(wrongPart(metadata[field]))} into Go struct field ObjectMeta.${field} of type string`,
      );
  }
  return { metadata: metadata as unknown as StoredObject['metadata'], unknown };
}

const typeName = (value: unknown) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value;

/** Returns the first value of a map or list that is no text. */
const wrongPart = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? Object.values(value).find((one) => !isText(one))
    : value;

const isText = (value: unknown) => typeof value === 'string';
const isTextMap = (value: unknown) => isFields(value) && Object.values(value).every(isText);
const SHAPES: Record<string, (value: unknown) => boolean> = {
  name: isText,
  generateName: isText,
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  labels: isTextMap,
  annotations: isTextMap,
  finalizers: (value) => Array.isArray(value) && value.every(isText),
  ownerReferences: (value) => Array.isArray(value) && value.every(isFields),
};

/** Reports whether a metadata field is empty: Go omits it from its JSON. */
function isEmpty(value: unknown): boolean {
  return (
    value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}
