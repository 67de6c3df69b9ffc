/** When nodes were last looked at for Volumes, by this process. */
export interface Looks {
  /** It was looked at just now, at `at`, in ms since the epoch. */
  note(uid: string, node: string, at: number): void;
  /** When; undefined where it never was, or not in the life that the node has now. */
  last(uid: string, node: string): number | undefined;
  forget(uid: string): void;
}

/** `lifeOf` tells the life of a node: what was seen in an earlier one counts no longer. */
export function createLooks(lifeOf: (node: string) => string): Looks {
  const looks = new Map<string, { at: number; node: string; life: string }>();
  return {
    note: (uid, node, at) => {
      looks.set(uid, { at, node, life: lifeOf(node) });
    },
    last(uid, node) {
      const look = looks.get(uid);
      return look?.node === node && look.life === lifeOf(node) ? look.at : undefined;
    },
    forget: (uid) => {
      looks.delete(uid);
    },
  };
}
