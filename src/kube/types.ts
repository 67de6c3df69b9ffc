import type { KubeList, KubeObject, Resource } from '../api/meta.ts';

/** What waits and backoffs go by. `now` is in ms since the epoch; `sleep` rejects when the signal aborts. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** Of a BOOKMARK only `metadata.resourceVersion` is set. */
  object: T;
}

export interface RequestOptions {
  /** Needed for namespaced kinds, except to list or watch all namespaces. Ignored for the others. */
  namespace?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** The server validates and answers, and stores nothing. */
  dryRun?: boolean | undefined;
  /** The server refuses fields that its schema does not know, instead of dropping them. */
  strict?: boolean | undefined;
  /** Called right before the first byte of each try; what it throws ends the request, and nothing was sent. */
  check?: (() => void) | undefined;
}

export interface PatchOptions extends WriteOptions {
  /**
   * A JSON merge patch (RFC 7386, the default), a JSON patch (RFC 6902), or Kubernetes' strategic one, which merges lists of
   * built-in kinds by a key.
   */
  type?: 'merge' | 'json' | 'strategic' | undefined;
  subresource?: 'status' | undefined;
}

export interface DeleteOptions extends WriteOptions {
  /** Preconditions: the delete is a 409 when the object there is another one by now. */
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
}

export interface SelectOptions extends RequestOptions {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface ListOptions extends SelectOptions {
  limit?: number | undefined;
  /** From the metadata of the page before. */
  continue?: string | undefined;
  resourceVersion?: string | undefined;
  /** Most bytes of the answer; beyond them an AnswerTooLong is thrown. Default: what the server sends. */
  maxBytes?: number | undefined;
}

export interface WatchOptions extends SelectOptions {
  resourceVersion: string;
  timeoutSeconds?: number | undefined;
}

/**
 * JSON over HTTP, as the API server speaks it. Every method rejects with an ApiError when the server refuses, with a
 * ConnectionError when it does not answer in time or at all, and with the signal's reason when that aborts.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, name: string, options?: RequestOptions): Promise<T>;
  /** One page. Items get the `apiVersion` and `kind` that API servers leave out. */
  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>>;
  /** Into the namespace given, else into the object's own. */
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    name: string,
    patch: object,
    options?: PatchOptions,
  ): Promise<T>;
  delete(resource: Resource, name: string, options?: DeleteOptions): Promise<void>;
  /** Ends when the server ends the watch; throws an ApiError on an ERROR event. Asks for bookmarks. */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
}
