/** Times of the last observations of Volumes by this process. */
export interface ObservationTimes {
  /** Records an observation at `at`, in ms since the epoch. */
  note(uid: string, node: string, at: number): void;
  /**
   * Returns the time of the last observation; undefined if none was made in the node's current
   * incarnation.
   */
  last(uid: string, node: string): number | undefined;
  /** Records that udev prefers the Volume's device for its path. */
  notePath(uid: string, node: string): void;
  /** Reports whether that was recorded in the node's current incarnation. */
  hasPath(uid: string, node: string): boolean;
  forget(uid: string): void;
}

/**
 * `incarnationOf` returns the incarnation of a node: observations of an earlier one no longer
 * count.
 */
export function createObservationTimes(incarnationOf: (node: string) => string): ObservationTimes {
  const observations = new Map<string, { at: number; node: string; incarnation: string }>();
  const paths = new Map<string, string>();
  const hereOf = (node: string) => JSON.stringify([node, incarnationOf(node)]);
  return {
    note: (uid, node, at) => {
      observations.set(uid, { at, node, incarnation: incarnationOf(node) });
    },
    last(uid, node) {
      const observation = observations.get(uid);
      return observation?.node === node && observation.incarnation === incarnationOf(node)
        ? observation.at
        : undefined;
    },
    notePath: (uid, node) => {
      paths.set(uid, hereOf(node));
    },
    hasPath: (uid, node) => paths.get(uid) === hereOf(node),
    forget: (uid) => {
      observations.delete(uid);
      paths.delete(uid);
    },
  };
}
