import type {
  CsiStorageCapacity,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import type { Clock } from '../../kube/types.ts';
import { hostnameLabelOf } from '../../model/hostname-label.ts';
import type {
  ConnectionState,
  NodeRow,
  RowKind,
  Rows,
  SnapshotRow,
  SourceKind,
  SourceState,
  VolumeRow,
} from '../../ui/protocol.ts';
import { createOutbox, type FeedState, type Outbox } from './outbox.ts';
import { publicMessage } from './public-text.ts';
import { hostnameIn, nodeRow, volumeRow } from './rows.ts';
import { createServedClaims, keyOf } from './screens/served-claims.ts';
import { snapshotRow } from './screens/snapshot-row.ts';

/** A reader's outbox, with what wakes it. */
export interface Subscription {
  outbox: Outbox;
  /** Resolves once the outbox is not empty. Rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  end(): void;
}

/** Kinds that the page follows, by source. */
export interface Followed {
  volumes: Volume;
  nodes: KubeNode;
  claims: PersistentVolumeClaim;
  snapshots: VolumeSnapshot;
  persistentvolumes: PersistentVolume;
  csistoragecapacities: CsiStorageCapacity;
  storageclasses: StorageClass;
}

/** State of the page for all readers: rows computed once for each change of an object. */
export interface Hub {
  /** Takes an object that is new or changed, or with `isGone` one that was deleted. */
  take<K extends SourceKind>(kind: K, object: Followed[K], isGone?: boolean): void;
  setSource(kind: SourceKind, state: SourceState): void;
  /** Records whether the API server answers; `error`: of the request that failed. */
  setConnected(connected: boolean, error?: string): void;
  subscribe(): Subscription;
}

const SOURCES: readonly SourceKind[] = [
  'volumes',
  'nodes',
  'claims',
  'snapshots',
  'persistentvolumes',
  'csistoragecapacities',
  'storageclasses',
];

/** @param about address of the API server and version of the program, for the page */
export function createHub(
  about: { server: string; version: string },
  clock: Pick<Clock, 'timeOfDay'>,
): Hub {
  const now = () => new Date(clock.timeOfDay()).toISOString();
  const volumes = new Map<string, Volume>();
  const pvs = new Map<string, PersistentVolume>();
  const nodes = new Map<string, KubeNode>();
  /** Capacities by host name, then by the name of the object. */
  const capacities = new Map<string, Map<string, CsiStorageCapacity>>();
  const volumeRows = new Map<string, VolumeRow>();
  const nodeRows = new Map<string, NodeRow>();
  const snapshotRows = new Map<string, SnapshotRow>();
  const claims = createServedClaims(
    (name) => volumeRows.get(name),
    (key) => wakeReaders((outbox) => outbox.markRow('claims', key)),
  );
  const rows: { [K in RowKind]: ReadonlyMap<string, Rows[K]> } = {
    volumes: volumeRows,
    nodes: nodeRows,
    claims: claims.rows,
    snapshots: snapshotRows,
  };
  const sources = new Map<SourceKind, SourceState>();
  let connection: ConnectionState = { connected: false, since: now() };
  const readers = new Map<Outbox, () => void>();

  const state: FeedState = {
    start: () => ({ type: 'start', ...about }),
    connection: () => ({ type: 'connection', ...connection }),
    sources: () => SOURCES,
    source: (kind) => ({
      type: 'source',
      kind,
      ...(sources.get(kind) ?? { state: 'loading' as const }),
    }),
    names: (kind) => rows[kind].keys(),
    row: <K extends RowKind>(kind: K, name: string) => rows[kind].get(name),
  };

  function wakeReaders(mark: (outbox: Outbox) => void): void {
    for (const [outbox, wake] of readers) {
      mark(outbox);
      wake();
    }
  }

  function updateVolume(name: string): void {
    const volume = volumes.get(name);
    if (volume === undefined && !volumeRows.has(name)) return;
    if (volume === undefined) volumeRows.delete(name);
    else volumeRows.set(name, volumeRow(volume, pvs.get(name)));
    wakeReaders((outbox) => outbox.markRow('volumes', name));
    claims.volumeChanged(name, volume?.spec.storageClassName);
  }

  function updateNode(name: string): void {
    const node = nodes.get(name);
    if (node === undefined) nodeRows.delete(name);
    else
      nodeRows.set(
        name,
        nodeRow(node, [...(capacities.get(hostnameLabelOf(node))?.values() ?? [])]),
      );
    wakeReaders((outbox) => outbox.markRow('nodes', name));
  }

  /** Takes objects that came, changed or went, by kind. */
  const takers: { [K in SourceKind]: (object: Followed[K], isGone: boolean) => void } = {
    volumes(volume, isGone) {
      keep(volumes, volume, isGone);
      updateVolume(volume.metadata.name);
    },
    nodes(node, isGone) {
      keep(nodes, node, isGone);
      updateNode(node.metadata.name);
    },
    persistentvolumes(pv, isGone) {
      keep(pvs, pv, isGone);
      updateVolume(pv.metadata.name);
    },
    csistoragecapacities(capacity, isGone) {
      const hostname = hostnameIn(capacity);
      const there = capacities.get(hostname) ?? new Map<string, CsiStorageCapacity>();
      keep(there, capacity, isGone);
      if (there.size > 0) capacities.set(hostname, there);
      else capacities.delete(hostname);
      for (const [name, node] of nodes) if (hostnameLabelOf(node) === hostname) updateNode(name);
    },
    storageclasses: claims.takeClass,
    claims: claims.take,
    snapshots(snapshot, isGone) {
      const key = keyOf(snapshot);
      if (isGone) snapshotRows.delete(key);
      else snapshotRows.set(key, snapshotRow(snapshot));
      wakeReaders((outbox) => outbox.markRow('snapshots', key));
    },
  };

  return {
    take: (kind, object, isGone = false) => takers[kind](object, isGone),
    setSource(kind, next) {
      const { message, hint } = next;
      const last = sources.get(kind);
      const safe: SourceState = {
        state: next.state,
        ...(message !== undefined && { message: publicMessage(message) }),
        ...(hint !== undefined && { hint: publicMessage(hint) }),
      };
      if (last?.state === safe.state && last.message === safe.message) return;
      sources.set(kind, safe);
      wakeReaders((outbox) => outbox.markSource(kind));
    },
    setConnected(connected, error) {
      const isSame = connection.connected === connected;
      // Requests for several kinds fail in turns. The first error stays, so that a screen reader
      // announces the outage once.
      if (isSame && (connected || connection.error !== undefined)) return;
      const since = isSame ? connection.since : now();
      connection = {
        connected,
        since,
        ...(error !== undefined && { error: publicMessage(error) }),
      };
      wakeReaders((outbox) => outbox.markConnection());
    },
    subscribe() {
      const outbox = createOutbox(state);
      let wake = () => {};
      readers.set(outbox, () => wake());
      return {
        outbox,
        changed: (signal) =>
          new Promise((resolve, reject) => {
            if (signal.aborted) return reject(signal.reason);
            if (!outbox.isEmpty()) return resolve();
            const abort = () => reject(signal.reason);
            signal.addEventListener('abort', abort, { once: true });
            wake = () => {
              signal.removeEventListener('abort', abort);
              resolve();
            };
          }),
        end: () => void readers.delete(outbox),
      };
    },
  };
}

/** Keeps the last state of each object, by name. */
function keep<T extends KubeObject>(kept: Map<string, T>, object: T, isGone: boolean): void {
  if (isGone) kept.delete(object.metadata.name);
  else kept.set(object.metadata.name, object);
}
