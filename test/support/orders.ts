/** Returns all permutations. */
export function orders<T>(things: readonly T[]): T[][] {
  if (things.length === 0) return [[]];
  return things.flatMap((first, index) =>
    orders([...things.slice(0, index), ...things.slice(index + 1)]).map((rest) => [first, ...rest]),
  );
}
