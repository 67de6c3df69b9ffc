import type { KubeList, KubeObject, Resource } from '../api/meta.ts';

export interface Clock {
  /**
   * Time of this process, in ms, which never steps: for intervals, backoffs and deadlines. It
   * begins at the time of day, and drifts from it once that is set.
   */
  now(): number;
  /**
   * Time of day, in ms since the epoch, which anyone may set: only for times in objects and output,
   * and to compare with these.
   */
  timeOfDay(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** A BOOKMARK has only `metadata.resourceVersion`. */
  object: T;
}

export interface RequestOptions {
  /** Required for namespaced kinds, except to list or watch all namespaces. Else ignored. */
  namespace?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** The server validates and answers, and stores nothing. */
  dryRun?: boolean | undefined;
  /** The server refuses fields that its schema does not know, instead of dropping them. */
  strict?: boolean | undefined;
  /** Called right before the first byte of each attempt. If it throws, nothing is sent. */
  check?: (() => void) | undefined;
}

export interface PatchOptions extends WriteOptions {
  /**
   * Format: a JSON merge patch (RFC 7386, the default), a JSON patch (RFC 6902), or Kubernetes'
   * strategic merge patch. The latter merges lists of built-in kinds by a key.
   */
  type?: 'merge' | 'json' | 'strategic' | undefined;
  subresource?: 'status' | undefined;
}

export interface DeleteOptions extends WriteOptions {
  /** Preconditions: the delete fails with a 409 if the object was replaced or changed. */
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
  /** Token from the metadata of the previous page. */
  continue?: string | undefined;
  resourceVersion?: string | undefined;
  /** Maximum bytes of the response. A larger one throws an AnswerTooLong. Default: no limit. */
  maxBytes?: number | undefined;
}

export interface WatchOptions extends SelectOptions {
  resourceVersion: string;
  timeoutSeconds?: number | undefined;
}

/**
 * Client of the API server over JSON. Methods reject with an ApiError if the server refuses, and
 * with a ConnectionError if it does not answer in time. If the signal aborts, they reject with its
 * reason.
 */
export interface KubeClient {
  /**
   * Returns the time of day of the API server, in ms since the epoch, by its last answer; undefined
   * before the first, or if it states none. The control plane writes the times of conditions: their
   * ages must not depend on the clock of this machine.
   */
  serverTime(): number | undefined;
  get<T extends KubeObject>(resource: Resource, name: string, options?: RequestOptions): Promise<T>;
  /** Returns one page. Items get the `apiVersion` and `kind` that API servers leave out. */
  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>>;
  /** Creates an object in the given namespace, else in the object's own. */
  create<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    name: string,
    patch: object,
    options?: PatchOptions,
  ): Promise<T>;
  delete(resource: Resource, name: string, options?: DeleteOptions): Promise<void>;
  /**
   * Watches with bookmarks until the server ends the watch. Throws an ApiError on an ERROR event.
   */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
}
