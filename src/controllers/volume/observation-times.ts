/** When nodes were last looked at for Volumes, by this process. */
export interface Looks {
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

/** `lifeOf` tells the life of a node: what was seen in an earlier one counts no longer. */
export function createLooks(lifeOf: (node: string) => string): Looks {
  const looks = new Map<string, { at: number; node: string; life: string }>();
  const paths = new Map<string, string>();
  const hereOf = (node: string) => JSON.stringify([node, lifeOf(node)]);
  return {
    note: (uid, node, at) => {
      looks.set(uid, { at, node, life: lifeOf(node) });
    },
    last(uid, node) {
      const look = looks.get(uid);
      return look?.node === node && look.life === lifeOf(node) ? look.at : undefined;
    },
    notePath: (uid, node) => {
      paths.set(uid, hereOf(node));
    },
    hasPath: (uid, node) => paths.get(uid) === hereOf(node),
    forget: (uid) => {
      looks.delete(uid);
      paths.delete(uid);
    },
  };
}
