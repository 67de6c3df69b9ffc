/** Objects that are being written, and not in the cache yet: their room is taken from the decision on. */
export interface Reservations<T> {
  /** @returns what ends it, once the object is in the cache or was not written */
  reserve(object: T): () => void;
  on(node: string): readonly T[];
}

/** @param isOn whether an object is to be on a node */
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
