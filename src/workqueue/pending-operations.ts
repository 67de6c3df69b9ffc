import type { Clock } from './clock.ts';

export interface PendingOperation<Kind extends string = string> {
  /** Subject. A key has at most one operation, of any kind. */
  key: string;
  kind: Kind;
  /** Group with a cap of its own, such as a node. */
  group: string;
  /** Time of submission, by `now` of the clock. */
  since: number;
  /** True once the operation has started; false while it waits for a cap. */
  running: boolean;
}

export interface Caps {
  inAll: number;
  perGroup: number;
}

export interface OperationsOptions<Kind extends string> {
  clock: Pick<Clock, 'now'>;
  /** Maximum number of running operations, per kind. */
  caps: Record<Kind, Caps>;
  /**
   * Called when a started operation ends, with the result of its work. `ms`: time since the start.
   */
  onEnd?: ((operation: PendingOperation<Kind>, succeeded: boolean, ms: number) => void) | undefined;
}

/** Table of pending operations by key. Operations beyond a cap wait, first come, first served. */
export interface Operations<Kind extends string> {
  /**
   * Starts the work as soon as the caps allow it. Returns false, and starts nothing, if the key has
   * an operation already, or after `stop`. `work` resolves to true on success, and must not throw.
   */
  start(key: string, kind: Kind, group: string, work: Work): boolean;
  /**
   * Cancels the key's operation, waiting or running: aborts its signal and frees its slot and key
   * at once. The table ignores the work's later result.
   */
  cancel(key: string): void;
  of(key: string): PendingOperation<Kind> | undefined;
  list(): PendingOperation<Kind>[];
  /**
   * Drops waiting operations, and waits up to `deadlineMs` for running ones. Then aborts the
   * signals of those that still run.
   */
  stop(deadlineMs: number, sleep: Clock['sleep']): Promise<void>;
}

type Work = (signal: AbortSignal) => Promise<boolean>;

interface Waiting<Kind extends string> {
  operation: PendingOperation<Kind>;
  work: Work;
}

interface Running<Kind extends string> {
  operation: PendingOperation<Kind>;
  /** By `now` of the clock. */
  started: number;
  end: Promise<void>;
  abort: AbortController;
}

export function createOperations<Kind extends string>({
  clock,
  caps,
  onEnd,
}: OperationsOptions<Kind>): Operations<Kind> {
  const table = new Map<string, PendingOperation<Kind>>();
  const waiting = new Map<Kind, Waiting<Kind>[]>();
  const running = new Map<Kind, Map<string, number>>();
  const begun = new Map<string, Running<Kind>>();
  let stopped = false;

  const countOf = (kind: Kind, group: string) => running.get(kind)?.get(group) ?? 0;
  const countAll = (kind: Kind) =>
    [...(running.get(kind)?.values() ?? [])].reduce((sum, n) => sum + n, 0);
  const hasPlace = ({ kind, group }: PendingOperation<Kind>) =>
    countAll(kind) < caps[kind].inAll && countOf(kind, group) < caps[kind].perGroup;

  function count({ kind, group }: PendingOperation<Kind>, by: 1 | -1): void {
    const groups = running.get(kind) ?? new Map<string, number>();
    running.set(kind, groups);
    const now = (groups.get(group) ?? 0) + by;
    if (now === 0) groups.delete(group);
    else groups.set(group, now);
  }

  function begin({ operation, work }: Waiting<Kind>): void {
    operation.running = true;
    count(operation, 1);
    const abort = new AbortController();
    const started = clock.now();
    const end = work(abort.signal).then((succeeded) => {
      // A canceled operation has ended already.
      if (begun.get(operation.key) === run) over(run, succeeded);
    });
    const run: Running<Kind> = { operation, started, end, abort };
    begun.set(operation.key, run);
  }

  function over({ operation, started }: Running<Kind>, succeeded: boolean): void {
    begun.delete(operation.key);
    table.delete(operation.key);
    count(operation, -1);
    onEnd?.(operation, succeeded, clock.now() - started);
    next(operation.kind);
  }

  /** Starts waiting operations of a kind. A full group does not hold up other groups. */
  function next(kind: Kind): void {
    const queue = waiting.get(kind) ?? [];
    for (let index = 0; index < queue.length; ) {
      const each = queue[index] as Waiting<Kind>;
      if (countAll(kind) >= caps[kind].inAll) return;
      if (hasPlace(each.operation)) {
        queue.splice(index, 1);
        begin(each);
      } else {
        index += 1;
      }
    }
  }

  return {
    start(key, kind, group, work) {
      if (stopped || table.has(key)) return false;
      const operation = { key, kind, group, since: clock.now(), running: false };
      table.set(key, operation);
      if (hasPlace(operation)) {
        begin({ operation, work });
      } else {
        const queue = waiting.get(kind) ?? [];
        waiting.set(kind, queue);
        queue.push({ operation, work });
      }
      return true;
    },
    cancel(key) {
      const run = begun.get(key);
      const { kind } = table.get(key) ?? {};
      if (run !== undefined) {
        over(run, false);
        run.abort.abort(new Error('canceled'));
      } else if (kind !== undefined) {
        table.delete(key);
        waiting.set(
          kind,
          waiting.get(kind)?.filter(({ operation }) => operation.key !== key) ?? [],
        );
      }
    },
    of: (key) => table.get(key),
    list: () => [...table.values()],
    async stop(deadlineMs, sleep) {
      stopped = true;
      for (const queue of waiting.values())
        for (const { operation } of queue) table.delete(operation.key);
      waiting.clear();
      const timer = new AbortController();
      const late = sleep(deadlineMs, timer.signal).catch(() => {});
      await Promise.race([Promise.all([...begun.values()].map(({ end }) => end)), late]);
      timer.abort();
      for (const { abort } of begun.values()) abort.abort(new Error('shutting down'));
    },
  };
}
