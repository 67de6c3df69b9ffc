import type { ServerResponse } from 'node:http';
import { apiVersionOf } from '../../api/meta.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { type Cluster, inVersion } from '../objects/cluster.ts';
import { type ListOptions, versionNumber } from '../objects/list-options.ts';
import { expired, resourceName } from '../refusal.ts';
import type { Matcher } from '../selectors.ts';
import type { Change } from '../store.ts';

/** Interval (ms) between bookmarks. */
const BOOKMARK_INTERVAL = 60_000;

/** Returns a meta/v1 Table of objects. */
export type TableMaker = (
  objects: StoredObject[],
  metadata: { resourceVersion: string },
) => { columnDefinitions: object[] };

type WatchEvent = { type: string; object: unknown };

export interface WatchOptions
  extends Pick<ListOptions, 'resourceVersion' | 'sendInitialEvents' | 'timeoutSeconds'> {
  bookmarks: boolean;
}

/**
 * Streams changes until the client or the timeout ends the watch. An empty or zero resourceVersion
 * starts with all objects as ADDED. So does sendInitialEvents, which ends them with a bookmark.
 * Only the first table names its columns. For a forgotten version, status 200 and an ERROR event
 * follow, as from the API server.
 */
export function watch(
  cluster: Cluster,
  kind: Kind,
  matches: Matcher,
  { resourceVersion, sendInitialEvents, timeoutSeconds, bookmarks }: WatchOptions,
  response: ServerResponse,
  asTable: TableMaker | undefined,
): void {
  const { store } = cluster;
  const table = resourceName(kind);
  const since = sendInitialEvents ? 0 : versionNumber(resourceVersion);
  const send = (event: WatchEvent) => response.write(`${JSON.stringify(event)}\n`);
  const show = asTable === undefined ? send : sendTables(asTable, send);
  const forward = (change: Change) => {
    const event = change.table === table ? eventOf(change, matches) : undefined;
    if (event !== undefined) show({ ...event, object: inVersion(kind, event.object) });
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const missed = since === 0 ? [] : store.changesSince(since);
  if (missed === undefined) {
    send({
      type: 'ERROR',
      object: expired(`too old resource version: ${since} (${store.version})`).status,
    });
    response.end();
    return;
  }
  if (since === 0)
    for (const object of store.list(table).filter(matches))
      show({ type: 'ADDED', object: inVersion(kind, object) });
  missed.forEach(forward);
  const unsubscribe = store.subscribe(forward);
  const bookmark = (annotations?: object) => {
    if (bookmarks) show(bookmarkOf(kind, store.version, annotations));
  };
  if (sendInitialEvents) bookmark({ 'k8s.io/initial-events-end': 'true' });
  const regular = setInterval(bookmark, BOOKMARK_INTERVAL);
  const finish = () => {
    unsubscribe();
    clearInterval(regular);
    clearTimeout(timeout);
  };
  const timeout =
    timeoutSeconds > 0
      ? setTimeout(() => {
          bookmark();
          // Finish at once: a change between end and close would be written to an ended stream.
          finish();
          response.end();
        }, timeoutSeconds * 1000)
      : undefined;
  response.on('close', finish);
}

function sendTables(asTable: TableMaker, send: (event: WatchEvent) => void) {
  let isFirst = true;
  return ({ type, object }: WatchEvent) => {
    const stored = object as StoredObject;
    const { resourceVersion = '' } = stored.metadata;
    const table = asTable(type === 'BOOKMARK' ? [] : [stored], { resourceVersion });
    send({ type, object: isFirst ? table : { ...table, columnDefinitions: null } });
    isFirst = false;
  };
}

/**
 * Translates a change for a client that sees only matching objects:
 * leaving the selection is a deletion.
 */
function eventOf(
  change: Change,
  matches: Matcher,
): { type: string; object: StoredObject } | undefined {
  const { object, previous } = change;
  const before = previous !== undefined && matches(previous);
  const after = change.type !== 'DELETED' && matches(object);
  if (after) return { type: before ? 'MODIFIED' : 'ADDED', object };
  if (!before) return undefined;
  const { resourceVersion = '' } = object.metadata;
  const last: StoredObject =
    change.type === 'DELETED'
      ? object
      : { ...previous, metadata: { ...previous.metadata, resourceVersion } };
  return { type: 'DELETED', object: last };
}

function bookmarkOf(kind: Kind, version: number, annotations?: object): WatchEvent {
  return {
    type: 'BOOKMARK',
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        resourceVersion: String(version),
        ...(annotations === undefined ? {} : { annotations }),
      },
    },
  };
}
