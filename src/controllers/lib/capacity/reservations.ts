/**
 * Space of objects that are being written and not in the cache yet, counted from the decision on.
 */
export interface Reservations<T> {
  /**
   * @returns a function that ends the reservation, once the object is in the cache or was not
   *   written
   */
  reserve(object: T): () => void;
  on(node: string): readonly T[];
}

/** @param isOn reports whether an object will be on a node */
export function createReservations<T>(isOn: (object: T, node: string) => boolean): Reservations<T> {
  const promised = new Set<T>();
  return {
    reserve(object) {
      promised.add(object);
      return () => promised.delete(object);
    },
    on: (node) => [...promised].filter((object) => isOn(object, node)),
  };
}
