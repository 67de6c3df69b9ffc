import type {
  ClaimRow,
  ConnectionState,
  FeedMessage,
  NodeRow,
  RowKind,
  Rows,
  SnapshotRow,
  SourceKind,
  SourceState,
  VolumeRow,
} from './protocol.ts';

/** Connection of the page to `stowage ui`. */
export type Link = 'connecting' | 'open' | 'lost' | 'no-key';

/** Everything that the page knows. Rows are replaced, never changed. */
export interface State {
  link: Link;
  server: string;
  version: string;
  connection: ConnectionState | undefined;
  sources: Map<SourceKind, SourceState>;
  volumes: Map<string, VolumeRow>;
  nodes: Map<string, NodeRow>;
  claims: Map<string, ClaimRow>;
  snapshots: Map<string, SnapshotRow>;
}

export interface Store {
  state: State;
  /** Takes the messages of a feed together. */
  take(messages: readonly FeedMessage[]): void;
  setLink(link: Link): void;
  /** Calls the listener after changes. Returns a function that ends that. */
  subscribe(listener: () => void): () => void;
}

/** @param schedule calls a function soon; several changes before that are reported once */
export function createStore(schedule: (report: () => void) => void): Store {
  const listeners = new Set<() => void>();
  let isScheduled = false;
  const state: State = {
    link: 'connecting',
    server: '',
    version: '',
    connection: undefined,
    sources: new Map(),
    volumes: new Map(),
    nodes: new Map(),
    claims: new Map(),
    snapshots: new Map(),
  };

  function changed(): void {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      for (const listener of listeners) listener();
    });
  }

  function takeOne(message: FeedMessage): void {
    switch (message.type) {
      case 'start':
        state.server = message.server;
        state.version = message.version;
        state.volumes.clear();
        state.nodes.clear();
        state.claims.clear();
        state.snapshots.clear();
        state.sources.clear();
        return;
      case 'connection': {
        const { type: _, ...connection } = message;
        state.connection = connection;
        return;
      }
      case 'source': {
        const { type: _, kind, ...source } = message;
        state.sources.set(kind, source);
        return;
      }
      case 'rows': {
        const rows: Map<string, Rows[RowKind]> = state[message.kind];
        for (const row of message.rows) rows.set(row.name, row);
        return;
      }
      case 'gone':
        for (const name of message.names) state[message.kind].delete(name);
    }
  }

  return {
    state,
    take(messages) {
      for (const message of messages) takeOne(message);
      if (messages.length > 0) changed();
    },
    setLink(link) {
      if (state.link === link) return;
      state.link = link;
      changed();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
