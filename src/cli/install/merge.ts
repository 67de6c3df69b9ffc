import { isDeepStrictEqual } from 'node:util';

type Fields = Record<string, unknown>;

/**
 * Returns `current` with all fields of `wanted`. Fields that `wanted` lacks belong to others and
 * stay, except those of `last`, the object wanted before. Elements of lists are matched by name; a
 * list of elements without names is replaced. Pure.
 */
export function merged(current: unknown, wanted: unknown, last: unknown): unknown {
  if (isFields(wanted) && isFields(current)) {
    const before = isFields(last) ? last : {};
    const result = without(current, before, wanted);
    for (const [key, value] of Object.entries(wanted))
      result[key] = merged(current[key], value, before[key]);
    return result;
  }
  const [mine, theirs, before] = [byName(wanted), byName(current), byName(last)];
  if (mine === undefined || theirs === undefined) return wanted;
  const rest = [...theirs].filter(([name]) => mine.has(name) || before?.has(name) !== true);
  return [...new Map([...rest, ...mine]).keys()].map((name) =>
    mine.has(name) ? merged(theirs.get(name), mine.get(name), before?.get(name)) : theirs.get(name),
  );
}

/** Returns the fields without those that were wanted before and are not wanted now. */
function without(current: Fields, last: Fields, wanted: Fields): Fields {
  const result = { ...current };
  for (const [key, value] of Object.entries(last)) {
    const found = result[key];
    if (key in wanted || found === undefined) continue;
    const left = isFields(found) && isFields(value) ? without(found, value, {}) : {};
    if (Object.keys(left).length > 0) result[key] = left;
    else delete result[key];
  }
  return result;
}

/** Returns a list's objects by name; undefined for other values, and missing or duplicate names. */
function byName(list: unknown): Map<string, Fields> | undefined {
  if (!Array.isArray(list)) return undefined;
  const named = new Map<string, Fields>();
  for (const element of list) {
    if (isFields(element) && typeof element.name === 'string') named.set(element.name, element);
  }
  return named.size === list.length ? named : undefined;
}

/** Returns the merge patch (RFC 7386) that turns `from` into `to`; undefined if nothing differs. */
export function mergePatch(from: object, to: object): object | undefined {
  const patch: Fields = {};
  for (const key of Object.keys(from)) if (!(key in to)) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    const old = (from as Fields)[key];
    if (isDeepStrictEqual(old, value)) continue;
    patch[key] = isFields(old) && isFields(value) ? mergePatch(old, value) : value;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
