/** What a claim with a source needs, and who uses it. */
export type Thing = 'class' | 'snapshot' | 'grant' | 'claim' | 'pod';

const CREATED: readonly Thing[] = ['class', 'snapshot', 'grant', 'claim', 'pod'];

/** A few of all orders of `things`: each is first once, and each two of them come in both orders. */
export function someOrders<T>(things: readonly T[]): T[][] {
  const rotated = things.map((_, first) => [...things.slice(first), ...things.slice(0, first)]);
  return rotated.flatMap((order) => [order, order.toReversed()]);
}

/** Those, and one that begins and one that ends with what everything else waits for. */
export const CREATING: readonly (readonly Thing[])[] = [
  ...someOrders(CREATED),
  ['pod', 'grant', 'class', 'snapshot', 'claim'],
  ['claim', 'snapshot', 'class', 'grant', 'pod'],
];

/** The claim that the snapshot is of can go, too, at any time. */
export type Deleted = Thing | 'source';

/** As many, with the source at each place. */
export const DELETING: readonly (readonly Deleted[])[] = CREATING.map((order, index) => {
  const at = index % (order.length + 1);
  const reversed = order.toReversed();
  return [...reversed.slice(0, at), 'source', ...reversed.slice(at)];
});

/** Pairs of which the first never comes before the second. */
export function missingPairs<T>(orders: readonly (readonly T[])[]): string[] {
  const things = orders[0] ?? [];
  return things.flatMap((first) =>
    things
      .filter((second) => first !== second)
      .filter((second) => !orders.some((order) => order.indexOf(first) < order.indexOf(second)))
      .map((second) => `${first} before ${second}`),
  );
}
