import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { copyOf, type Fields, isFields } from '../json.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { badRequest, invalid, invalidValue, Refusal, unsupportedMediaType } from '../refusal.ts';
import { strategicMerge } from '../strategic/merge.ts';
import { shapeOf } from '../strategic/shape.ts';
import type { WriteOptions } from './cluster.ts';
import { decode } from './decode.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** Returns a patched object. Throws 400, 415 or 422. */
export function patched(
  kind: Kind,
  old: StoredObject,
  contentType: string,
  patch: unknown,
  options: WriteOptions,
): StoredObject {
  const result = resultOf(kind, old, contentType, patch);
  const text = JSON.stringify(result);
  const { object, unknown } = decode(kind, result);
  const found = unknown.map((path) => `unknown field "${path}"`);
  if (options.fieldValidation === 'Warn') for (const message of found) options.warn(message);
  if (options.fieldValidation === 'Strict' && found.length > 0)
    throw invalid(undefined, '', [
      invalidValue('patch', text, `strict decoding error: ${found.join(', ')}`),
    ]);
  return object;
}

function resultOf(kind: Kind, old: StoredObject, contentType: string, patch: unknown): unknown {
  if (contentType === JSON_PATCH) return jsonPatch(old, patch);
  // The Go types of built-in kinds determine how lists are merged; custom resources have none.
  if (contentType === STRATEGIC_MERGE_PATCH && !kind.custom)
    return strategicMerge(old, fields(patch), shapeOf(kind.kind));
  if (contentType === MERGE_PATCH) return mergePatch(old, fields(patch));
  throw unsupportedMediaType([
    JSON_PATCH,
    MERGE_PATCH,
    ...(kind.custom ? [] : [STRATEGIC_MERGE_PATCH]),
    'application/apply-patch+yaml',
  ]);
}

function fields(patch: unknown): Fields {
  if (!isFields(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${Array.isArray(patch) ? 'array' : typeof patch} into Go value of type map[string]interface {}`,
    );
  return patch;
}

/** Applies a merge patch (RFC 7396). */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = isFields(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = mergePatch(result[field], value);
  }
  return result;
}

/** Converts an operation as the API server's library does: replacing an absent field adds it. */
function asApplied(operation: Operation, object: unknown): Operation {
  if (operation.op !== 'replace') return operation;
  const parent = Pointer.fromJSON(operation.path.replace(/\/[^/]*$/, '')).get(object);
  return isFields(parent) ? { ...operation, op: 'add' } : operation;
}

function jsonPatch(old: StoredObject, patch: unknown): unknown {
  if (!Array.isArray(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${typeof patch} into Go value of type []handlers.jsonPatchOp`,
    );
  const result = copyOf(old);
  // applyPatch reports a failed operation, throws for an invalid one, and
  // continues after a failure.
  const failed = (patch as Operation[]).some((operation) =>
    applyPatch(result, [asApplied(operation, result)]).some((error) => error !== null),
  );
  // The API server does not name the failed operation either.
  if (failed)
    throw new Refusal(
      422,
      'Invalid',
      'the server rejected our request due to an error in our request',
      {},
    );
  return result;
}
