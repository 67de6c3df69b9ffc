import type {
  CsiStorageCapacity,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/core.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import type { Clock } from '../../kube/types.ts';
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
import { hostnameIn, hostnameOf, nodeRow, volumeRow } from './rows.ts';
import { createServedClaims, keyOf } from './screens/served-claims.ts';
import { snapshotRow } from './screens/snapshot-row.ts';

/** A reader's outbox, with what wakes it. */
export interface Subscription {
  outbox: Outbox;
  /** Resolves once the outbox is not empty. Rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  end(): void;
}

/** State of the page for all readers: rows computed once for each change of an object. */
export interface Hub {
  putVolume(volume: Volume): void;
  dropVolume(name: string): void;
  putNode(node: KubeNode): void;
  dropNode(name: string): void;
  putPersistentVolume(pv: PersistentVolume): void;
  dropPersistentVolume(name: string): void;
  putCapacity(capacity: CsiStorageCapacity): void;
  dropCapacity(capacity: CsiStorageCapacity): void;
  putClaim(claim: PersistentVolumeClaim): void;
  dropClaim(claim: PersistentVolumeClaim): void;
  putClass(storageClass: StorageClass): void;
  dropClass(name: string): void;
  putSnapshot(snapshot: VolumeSnapshot): void;
  dropSnapshot(snapshot: VolumeSnapshot): void;
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
  clock: Pick<Clock, 'now'>,
): Hub {
  const now = () => new Date(clock.now()).toISOString();
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
    else nodeRows.set(name, nodeRow(node, [...(capacities.get(hostnameOf(node))?.values() ?? [])]));
    wakeReaders((outbox) => outbox.markRow('nodes', name));
  }

  const updateHost = (hostname: string): void => {
    for (const [name, node] of nodes) if (hostnameOf(node) === hostname) updateNode(name);
  };

  return {
    putVolume(volume) {
      volumes.set(volume.metadata.name, volume);
      updateVolume(volume.metadata.name);
    },
    dropVolume(name) {
      volumes.delete(name);
      updateVolume(name);
    },
    putNode(node) {
      nodes.set(node.metadata.name, node);
      updateNode(node.metadata.name);
    },
    dropNode(name) {
      nodes.delete(name);
      updateNode(name);
    },
    putPersistentVolume(pv) {
      pvs.set(pv.metadata.name, pv);
      updateVolume(pv.metadata.name);
    },
    dropPersistentVolume(name) {
      pvs.delete(name);
      updateVolume(name);
    },
    putCapacity(capacity) {
      const hostname = hostnameIn(capacity);
      const there = capacities.get(hostname) ?? new Map<string, CsiStorageCapacity>();
      capacities.set(hostname, there.set(capacity.metadata.name, capacity));
      updateHost(hostname);
    },
    dropCapacity(capacity) {
      const hostname = hostnameIn(capacity);
      capacities.get(hostname)?.delete(capacity.metadata.name);
      updateHost(hostname);
    },
    putClaim: claims.put,
    dropClaim: (claim) => claims.drop(keyOf(claim)),
    putClass: claims.putClass,
    dropClass: claims.dropClass,
    putSnapshot(snapshot) {
      snapshotRows.set(keyOf(snapshot), snapshotRow(snapshot));
      wakeReaders((outbox) => outbox.markRow('snapshots', keyOf(snapshot)));
    },
    dropSnapshot(snapshot) {
      snapshotRows.delete(keyOf(snapshot));
      wakeReaders((outbox) => outbox.markRow('snapshots', keyOf(snapshot)));
    },
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
