import type { SnapshotHandle } from '../../src/api/snapshot-handle.ts';
import type { NodeWork } from '../../src/controllers/snapshot/node-work.ts';
import type { Outcome } from '../../src/controllers/snapshot/types.ts';

export interface CopyingNodes extends NodeWork {
  /** Names of nodes that do not answer. */
  away: Set<string>;
  /** Errors of the next copies, one for each. */
  failures: string[];
  /** Paths of existing copies; all nodes share them. */
  copies: Set<string>;
  /** Paths of created copies, and of removed ones. */
  taken: string[];
  removed: string[];
  /** All calls. */
  asked: string[];
  /** Keeps jobs running until the returned function is called. */
  hold(): () => void;
  /** Freeze options of each copy. */
  freezes: object[];
}

/** Returns snapshot jobs in memory: a copy is a path in a set. */
export function copyingNodes(): CopyingNodes {
  let held: { go: Promise<void>; isOver: boolean } | undefined;
  const pathOf = (handle: SnapshotHandle) => (handle.type === 'file' ? handle.path : handle.name);
  const present = (handle: SnapshotHandle): Outcome =>
    self.copies.has(pathOf(handle)) ? { is: 'whole', sizeBytes: 2 ** 30 } : { is: 'absent' };
  const reach = (what: string, node: string): Outcome | undefined => {
    self.asked.push(`${what} ${node}`);
    return self.away.has(node) ? { is: 'unknown', message: `node ${node} is away` } : undefined;
  };

  const self: CopyingNodes = {
    away: new Set(),
    failures: [],
    copies: new Set(),
    taken: [],
    removed: [],
    asked: [],
    freezes: [],
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const mine = { go: promise, isOver: false };
      held = mine;
      return () => {
        mine.isOver = true;
        held = undefined;
        resolve();
      };
    },
    async observe(_content, node, handle) {
      return reach('look', node) ?? present(handle);
    },
    async take(_content, _volume, { node, handle }, freeze, isCurrent) {
      const away = reach('take', node);
      if (away !== undefined) return away;
      if (held !== undefined) return { is: 'running' };
      if (present(handle).is === 'whole') return present(handle);
      if (!(await isCurrent())) return undefined;
      const message = self.failures.shift();
      if (message !== undefined) return { is: 'failed', message };
      self.copies.add(pathOf(handle));
      self.taken.push(pathOf(handle));
      self.freezes.push(freeze);
      return present(handle);
    },
    async remove(_content, _volume, { node, handle }, isCurrent) {
      const away = reach('remove', node);
      if (away !== undefined) return away;
      if (present(handle).is === 'absent') return { is: 'absent' };
      if (!(await isCurrent())) return undefined;
      self.copies.delete(pathOf(handle));
      self.removed.push(pathOf(handle));
      return { is: 'absent' };
    },
    watch(_content, _note, ended) {
      if (held === undefined) ended();
      else void held.go.then(ended);
    },
  };
  return self;
}
