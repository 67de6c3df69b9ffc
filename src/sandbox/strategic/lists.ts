import { type Fields, isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';
import { deleteDirective, plain } from './directives.ts';
import type { Shape } from './shape.ts';

type MergeObjects = (original: Fields, patch: Fields, shape?: Shape) => Fields;

/**
 * Merges lists whose items have an identity. Throws a 400 if an item has none.
 * `seen`: strategicpatch merges in place, in a Go slice. Its caller then orders the
 * result by the old list, and sees items moved and added in it. If given, `seen` becomes
 * the list that the caller sees.
 */
export function mergeLists(
  old: readonly unknown[],
  patch: unknown[],
  shape: Shape,
  merge: MergeObjects,
  seen: unknown[] = [],
): unknown[] {
  const { mergeKey, fields } = shape;
  if (mergeKey === undefined) return inOrder([...new Set([...old, ...patch])], patch, [...old]);
  const changes = patch.map((item) => keyed(item, mergeKey));
  const directives = changes.filter(({ $patch }) => $patch !== undefined);
  const additions = changes.filter(({ $patch }) => $patch === undefined);
  if (directives.filter(({ $patch }) => !deleteDirective($patch)).length > 0)
    return plain(additions) as unknown[];
  const left = old.filter(
    (item) => !directives.some((one) => identity(one, mergeKey) === identity(item, mergeKey)),
  );
  const merged = [...left];
  // An item that does not fit into the old list moves the slice: the caller sees
  // neither that item nor later ones.
  seen.splice(0, left.length, ...left);
  for (const item of additions) {
    const id = identity(item, mergeKey);
    const at = merged.findIndex((one) => identity(one, mergeKey) === id);
    if (at === -1 && merged.length < seen.length) seen[merged.length] = item;
    if (at === -1) merged.push(plain(item));
    else merged[at] = merge(merged[at] as Fields, item, fields === undefined ? {} : { fields });
  }
  return inOrder(merged, additions, left, mergeKey);
}

/** Checks an item of a patch: only `$patch: replace` needs no merge key. */
function keyed(item: unknown, mergeKey: string): Fields {
  if (!isFields(item)) throw badRequest(`list element is not a map: ${JSON.stringify(item)}`);
  if (item.$patch !== 'replace') identity(item, mergeKey);
  return item;
}

function identity(item: unknown, mergeKey: string | undefined): unknown {
  if (mergeKey === undefined) return item;
  const id = isFields(item) ? item[mergeKey] : undefined;
  if (id === undefined || (typeof id === 'object' && id !== null))
    throw badRequest(
      `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`,
    );
  return id;
}

export function identities(list: unknown[], mergeKey: string | undefined): unknown[] {
  return list.map((item) => identity(item, mergeKey));
}

/**
 * Sorts items: those in `wanted` by its order, the others by that of `before`. Across both, keeps
 * the order of `before` as far as possible.
 */
export function inOrder(items: unknown[], wanted: unknown[], before: unknown[], mergeKey?: string) {
  const [first, live] = [identities(wanted, mergeKey), identities(before, mergeKey)];
  const place = (order: unknown[]) => (item: unknown) => order.indexOf(identity(item, mergeKey));
  const by = (at: (item: unknown) => number) => (a: unknown, b: unknown) => at(a) - at(b);
  const [inWanted, inLive] = [place(first), place(live)];
  const named = items.filter((item) => inWanted(item) !== -1).sort(by(inWanted));
  const others = items.filter((item) => inWanted(item) === -1).sort(by(inLive));
  const result: unknown[] = [];
  for (const item of named) {
    const at = inLive(item);
    while (others.length > 0 && at !== -1 && inLive(others[0]) !== -1 && inLive(others[0]) < at)
      result.push(others.shift());
    result.push(item);
  }
  return [...result, ...others];
}
