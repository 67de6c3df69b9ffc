import type { FeedMessage, RowKind, Rows, SourceKind } from '../../ui/protocol.ts';

/** Current state, which an outbox reads when it sends. */
export interface FeedState {
  /** First message of a feed. */
  start(): FeedMessage;
  connection(): FeedMessage;
  sources(): readonly SourceKind[];
  source(kind: SourceKind): FeedMessage;
  names(kind: RowKind): Iterable<string>;
  /** Returns the current row; undefined if the object is gone. */
  row<K extends RowKind>(kind: K, name: string): Rows[K] | undefined;
}

/**
 * Changes that a reader has yet to get, as names of objects. Memory is bounded by the number of
 * objects: a slow reader gets the latest state of each, and no state in between.
 */
export interface Outbox {
  markRow(kind: RowKind, name: string): void;
  markSource(kind: SourceKind): void;
  markConnection(): void;
  isEmpty(): boolean;
  /** Returns the next lines, with at most `most` rows; '' if there is nothing to send. */
  take(most: number): string;
}

const KINDS: readonly RowKind[] = ['volumes', 'nodes', 'claims', 'snapshots'];

/** Creates an outbox that starts with the whole state. */
export function createOutbox(state: FeedState): Outbox {
  let started = false;
  let connection = true;
  const sources = new Set(state.sources());
  const rows = new Map(KINDS.map((kind) => [kind, new Set(state.names(kind))]));
  const waiting = (kind: SourceKind): number => rows.get(kind as RowKind)?.size ?? 0;

  /** Returns messages for at most `most` changed objects of a kind. */
  function takeRows<K extends RowKind>(kind: K, most: number): FeedMessage[] {
    const names = rows.get(kind) ?? new Set<string>();
    const found: Rows[K][] = [];
    const gone: string[] = [];
    for (const name of names) {
      if (found.length + gone.length === most) break;
      names.delete(name);
      const row = state.row(kind, name);
      if (row === undefined) gone.push(name);
      else found.push(row);
    }
    return [
      ...(found.length > 0 ? [{ type: 'rows', kind, rows: found } as unknown as FeedMessage] : []),
      ...(gone.length > 0 ? [{ type: 'gone', kind, names: gone } satisfies FeedMessage] : []),
    ];
  }

  return {
    markRow: (kind, name) => void rows.get(kind)?.add(name),
    markSource: (kind) => void sources.add(kind),
    markConnection() {
      connection = true;
    },
    isEmpty: () => started && !connection && sources.size === 0 && KINDS.every((k) => !waiting(k)),
    take(most) {
      const messages: FeedMessage[] = [];
      if (!started) messages.push(state.start());
      started = true;
      if (connection) messages.push(state.connection());
      connection = false;
      let left = most;
      for (const kind of KINDS) {
        const before = waiting(kind);
        messages.push(...takeRows(kind, left));
        left -= before - waiting(kind);
      }
      for (const kind of sources) {
        // "Listed" promises that all rows are there, so they precede it.
        if (waiting(kind) > 0) continue;
        sources.delete(kind);
        messages.push(state.source(kind));
      }
      return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
    },
  };
}
