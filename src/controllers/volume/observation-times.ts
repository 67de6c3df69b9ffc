/** When nodes were last looked at for Volumes, by this process. */
export interface ObservationTimes {
  /** It was looked at just now, at `at`, in ms since the epoch. */
  note(uid: string, node: string, at: number): void;
  /** When; undefined where it never was, or not in the life that the node has now. */
  last(uid: string, node: string): number | undefined;
  /** udev prefers the Volume's device for its path now. */
  notePath(uid: string, node: string): void;
  /** Whether that was noted in the life that the node has now. */
  hasPath(uid: string, node: string): boolean;
  forget(uid: string): void;
}

/** `incarnationOf` returns the incarnation of a node: what was seen in an earlier one counts no longer. */
export function createObservationTimes(incarnationOf: (node: string) => string): ObservationTimes {
  const observations = new Map<string, { at: number; node: string; incarnation: string }>();
  const paths = new Map<string, string>();
  const hereOf = (node: string) => JSON.stringify([node, incarnationOf(node)]);
  return {
    note: (uid, node, at) => {
      observations.set(uid, { at, node, incarnation: incarnationOf(node) });
    },
    last(uid, node) {
      const look = observations.get(uid);
      return look?.node === node && look.incarnation === incarnationOf(node) ? look.at : undefined;
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
