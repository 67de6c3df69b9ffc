/** Does something for each, for sixteen of them at once: a server is busy with it, and not with connections alone. */
export async function inTurns<T>(
  of: readonly T[],
  act: (one: T) => Promise<unknown>,
): Promise<void> {
  const left = [...of];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
    }),
  );
}
