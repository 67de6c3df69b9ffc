import { type Fields, isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';
import { deleteDirective, isDirective, plain, withoutDirectives } from './directives.ts';
import { identities, inOrder, mergeLists } from './lists.ts';
import type { Shape } from './shape.ts';

const ORDER = '$setElementOrder/';
const DELETION = '$deleteFromPrimitiveList/';

/**
 * Returns the result of a strategic merge patch, as apimachinery's strategicpatch. Changes neither
 * argument. Throws a 400 for an invalid patch.
 */
export function strategicMerge(original: Fields, patch: Fields, shape: Shape = {}): Fields {
  const directive = patch.$patch;
  if (directive !== undefined) {
    const { $patch: _, ...rest } = patch;
    return deleteDirective(directive) ? {} : (plain(rest) as Fields);
  }
  const result = retain(original, patch);
  const ordered = new Set<string>();
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const field = key.slice(ORDER.length);
    ordered.add(field);
    const list = orderedList(
      result[field],
      patch[field],
      order,
      shape.fields?.[field] ?? {},
      field,
    );
    if (list !== undefined) result[field] = list;
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$retainKeys' || key.startsWith(ORDER) || ordered.has(key)) continue;
    if (key.startsWith(DELETION)) strike(result, key.slice(DELETION.length), value, shape);
    else if (key.startsWith('$'))
      throw badRequest(`unknown directive ${JSON.stringify(key)} in the patch`);
    else mergeField(result, key, value, shape.fields?.[key] ?? {});
  }
  return result;
}

function mergeField(result: Fields, field: string, value: unknown, shape: Shape): void {
  const old = result[field];
  const next =
    isFields(old) && isFields(value)
      ? strategicMerge(old, value, shape)
      : Array.isArray(old) && Array.isArray(value) && isMerged(shape)
        ? mergeLists(old, value, shape, strategicMerge)
        : Array.isArray(old) && Array.isArray(value)
          ? plain(value)
          : withoutDirectives(value);
  if (next === undefined) delete result[field];
  else result[field] = next;
}

const isMerged = (shape: Shape) => shape.set === true || shape.mergeKey !== undefined;

/**
 * Keeps only the fields of the original in `$retainKeys`, which must name all fields of the patch.
 */
function retain(original: Fields, patch: Fields): Fields {
  const kept = patch.$retainKeys;
  if (kept === undefined) return { ...original };
  const others = Object.entries(patch).filter(
    ([key, value]) =>
      value !== null && !isDirective(key) && !(Array.isArray(kept) && kept.includes(key)),
  );
  if (!Array.isArray(kept) || others.length > 0)
    throw badRequest(
      'invalid patch format of retainKeys: it must be a list that names every key of the patch',
    );
  return Object.fromEntries(Object.entries(original).filter(([key]) => kept.includes(key)));
}

function orderedList(old: unknown, patch: unknown, order: unknown, shape: Shape, field: string) {
  for (const list of [old ?? [], patch ?? [], order])
    if (!Array.isArray(list))
      throw badRequest(`invalid patch format of setElementOrder list: ${field} is not a list`);
  const [before, changes, wanted] = [old, patch, order] as [unknown[]?, unknown[]?, unknown[]?];
  if (before === undefined && changes === undefined) return undefined;
  if (!before?.length && !changes?.length)
    throw badRequest(`there is nothing to order in ${field}`);
  follows(changes ?? [], wanted ?? [], shape, field);
  const seen = [...(before ?? [])];
  const merged =
    changes === undefined
      ? (before as unknown[])
      : before === undefined
        ? (withoutDirectives(changes) as unknown[])
        : isMerged(shape)
          ? mergeLists(before, changes, shape, strategicMerge, seen)
          : (plain(changes) as unknown[]);
  return inOrder(merged, wanted ?? [], seen, shape.mergeKey);
}

/** Throws a 400 unless the items of a patch are in the requested order. */
function follows(changes: unknown[], order: unknown[], { mergeKey }: Shape, field: string): void {
  const ids = identities(order, mergeKey);
  const places = identities(
    changes.filter((item) => !isFields(item) || item.$patch === undefined),
    mergeKey,
  ).map((id) => ids.indexOf(id));
  if (places.some((place, i) => place === -1 || place < (places[i - 1] ?? 0)))
    throw badRequest(`the order in the patch of ${field} does not match its $setElementOrder list`);
}

function strike(result: Fields, field: string, values: unknown, shape: Shape): void {
  const old = result[field];
  if (!Array.isArray(values) || shape.fields?.[field]?.set !== true)
    throw badRequest(
      `invalid patch format of primitive list: ${field} is not a list that is merged`,
    );
  if (Array.isArray(old)) result[field] = old.filter((item) => !values.includes(item));
}
