/**
 * Loop numbers reserved for Volumes whose job may not have attached them yet, so that two jobs
 * never try the same number.
 */
export interface LoopNumbers {
  promise(node: string, uid: string, number: number): void;
  release(node: string, uid: string): void;
  /** Returns the numbers reserved on a node for other Volumes. */
  ofOthers(node: string, uid: string): ReadonlySet<number>;
}

export function createLoopNumbers(): LoopNumbers {
  const nodes = new Map<string, Map<string, number>>();
  return {
    promise(node, uid, number) {
      const promised = nodes.get(node) ?? new Map<string, number>();
      nodes.set(node, promised.set(uid, number));
    },
    release(node, uid) {
      nodes.get(node)?.delete(uid);
    },
    ofOthers(node, uid) {
      const promised = [...(nodes.get(node) ?? [])];
      return new Set(promised.filter(([other]) => other !== uid).map(([, number]) => number));
    },
  };
}
