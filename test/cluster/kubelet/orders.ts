/** Objects that a claim with a source needs, and the pod that uses it. */
export type Thing = 'class' | 'snapshot' | 'grant' | 'claim' | 'pod';

const CREATED: readonly Thing[] = ['class', 'snapshot', 'grant', 'claim', 'pod'];

/**
 * Returns some of the orders of `things`, with each pair in both orders. Each thing is first twice
 * and last twice.
 */
export function someOrders<T>(things: readonly T[]): T[][] {
  const rotated = things.map((_, first) => [...things.slice(first), ...things.slice(0, first)]);
  return rotated.flatMap((order) => [order, order.toReversed()]);
}

/**
 * The orders of `someOrders`, plus one from the pod to its claim and one from the claim to its pod.
 */
export const CREATING: readonly (readonly Thing[])[] = [
  ...someOrders(CREATED),
  ['pod', 'grant', 'class', 'snapshot', 'claim'],
  ['claim', 'snapshot', 'class', 'grant', 'pod'],
];

/** A thing to delete. The snapshot's source claim can be deleted at any time, too. */
export type Deleted = Thing | 'source';

/** The same number of orders, with the source at each position. */
export const DELETING: readonly (readonly Deleted[])[] = CREATING.map((order, index) => {
  const at = index % (order.length + 1);
  const reversed = order.toReversed();
  return [...reversed.slice(0, at), 'source', ...reversed.slice(at)];
});

/** Returns the pairs whose first thing never comes before the second. */
export function missingPairs<T>(orders: readonly (readonly T[])[]): string[] {
  const things = orders[0] ?? [];
  return things.flatMap((first) =>
    things
      .filter((second) => first !== second)
      .filter((second) => !orders.some((order) => order.indexOf(first) < order.indexOf(second)))
      .map((second) => `${first} before ${second}`),
  );
}
