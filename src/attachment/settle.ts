import { withoutNode } from './actual.ts';
import type { Outcome } from './attacher.ts';
import { change, forgetFailures, type Known, noteFailure } from './known.ts';
import type { Operation } from './types.ts';

/** What is known once an operation has ended. `random` is in [0, 1). */
export function settle(
  known: Known,
  { kind, node }: Operation,
  outcome: Outcome,
  now: number,
  random: number,
): void {
  const fail = (message: string) => noteFailure(known, kind, node, message, now, random);
  const had = known.entries.some((entry) => entry.node === node);
  switch (outcome.is) {
    case 'attached': {
      const { readOnly, safeToMount, message } = outcome;
      const to = { state: 'Attached', readOnly, safeToMount, safeToDetach: false, message } as const;
      known.entries = change(known.entries, node, to, now);
      known.unseen.delete(node);
      forgetFailures(known, node, safeToMount ? ['look', 'attach'] : ['look']);
      // It was to be detached, or it is not as it should be.
      if (kind === 'detach' || (kind === 'attach' && !safeToMount)) fail(message ?? 'it is still attached');
      else if (kind === 'attach') forgetFailures(known, node);
      return;
    }
    case 'detached':
      known.entries = withoutNode(known.entries, node);
      known.unseen.delete(node);
      forgetFailures(known, node, kind === 'detach' ? undefined : ['look', 'detach']);
      return;
    case 'in-use': {
      const to = { state: 'Attached', safeToDetach: false, message: outcome.message } as const;
      known.entries = change(known.entries, node, to, now);
      known.unseen.delete(node);
      fail(outcome.message);
      return;
    }
    case 'failed':
      known.entries = withoutNode(known.entries, node);
      fail(outcome.message);
      return;
    case 'unknown':
      fail(outcome.message);
      // A node that was only to be looked at, and is not known to have it, holds nobody up.
      if (kind === 'look' && !had) return;
      if (kind !== 'look') noteFailure(known, 'look', node, outcome.message, now, random);
      known.entries = change(
        known.entries,
        node,
        { state: 'Uncertain', safeToMount: false, safeToDetach: false, message: outcome.message },
        now,
      );
  }
}
