/**
 * Calls `act` for each element, sixteen at a time. The server is then busy with the requests, not
 * only with connections.
 */
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
