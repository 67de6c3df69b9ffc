import { StowageError } from '../api/errors.ts';
import {
  apiVersionOf,
  type KubeList,
  type KubeObject,
  type Resource,
  type Status,
} from '../api/meta.ts';
import { COMPONENT } from '../api/names.ts';
import { VOLUMES } from '../api/resources.ts';
import type { VolumeSpec } from '../api/volume.ts';
import { AnswerTooLong, ApiError, ConnectionError } from './errors.ts';
import { lines } from './ndjson.ts';
import { collectionPath, objectPath, queryString, requireNamespace } from './paths.ts';
import type { Transport, What } from './transport.ts';
import type {
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchOptions,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './types.ts';

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};
const PAGE_SIZE = 500;
/** Maximum bytes of an unreduced page: tenants can give each object 250 kB of annotations. */
const PAGE_BYTES = 8 << 20;
/** Spec of a Volume that has none. */
const NO_SPEC: VolumeSpec = { nodeName: '', storageClassName: '' };

/** Characters of a finalizer's name. */
const FINALIZER = /^[\w./-]+$/;

/**
 * Throws a StowageError for a patch with a list of finalizers that contains an invalid name. API
 * servers do not validate finalizers in patches of custom resources. A cache ends a truncated list
 * with an invalid name: written back, the list would drop finalizers of other controllers.
 */
function checkFinalizers({ kind }: Resource, name: string, patch: Partial<KubeObject>): void {
  if (patch.metadata?.finalizers?.every((each) => FINALIZER.test(each)) ?? true) return;
  throw new StowageError(
    'failed',
    `${kind} ${name} has more finalizers than Stowage caches, so they stay unchanged`,
    {
      hint: 'Remove finalizers that are no longer needed.',
    },
  );
}

type Watched<T extends KubeObject> = WatchEvent<T> | { type: 'ERROR'; object: Status };

/** Creates a client over raw JSON, without classes in between. */
export function createClient(transport: Transport): KubeClient {
  return {
    serverTime: () => transport.serverTime(),

    async get<T extends KubeObject>(
      resource: Resource,
      name: string,
      { namespace, signal }: RequestOptions = {},
    ) {
      const path = objectPath(resource, namespace, name);
      const what = whatOf('get', resource);
      return whole(resource, (await transport.send({ method: 'GET', path, what, signal })) as T);
    },

    async list<T extends KubeObject>(
      resource: Resource,
      { namespace, signal, maxBytes, ...parameters }: ListOptions = {},
    ) {
      const path = collectionPath(resource, namespace) + queryString(parameters);
      const what = whatOf('list', resource);
      const page = (await transport.send({
        method: 'GET',
        path,
        what,
        signal,
        maxBytes,
      })) as KubeList<T>;
      // A nil slice of Go is null in JSON.
      page.items ??= [];
      for (const item of page.items) {
        item.apiVersion ??= apiVersionOf(resource);
        item.kind ??= resource.kind;
        whole(resource, item);
      }
      return page;
    },

    async create<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}) {
      const namespace = options.namespace ?? object.metadata.namespace;
      requireNamespace(resource, namespace);
      const path = collectionPath(resource, namespace) + writeQuery(options);
      const what = whatOf('create', resource);
      const { signal, check } = options;
      return whole(
        resource,
        (await transport.send({ method: 'POST', path, body: object, what, signal, check })) as T,
      );
    },

    async patch<T extends KubeObject>(
      resource: Resource,
      name: string,
      patch: object,
      options: PatchOptions = {},
    ) {
      checkFinalizers(resource, name, patch);
      const path =
        objectPath(resource, options.namespace, name, options.subresource) + writeQuery(options);
      const contentType = PATCH_TYPES[options.type ?? 'merge'];
      const answer = await transport.send({
        method: 'PATCH',
        path,
        body: patch,
        contentType,
        what: whatOf('patch', resource, options.subresource),
        signal: options.signal,
        check: options.check,
      });
      return whole(resource, answer as T);
    },

    async delete(resource, name, options = {}) {
      const path = objectPath(resource, options.namespace, name);
      const what = whatOf('delete', resource);
      const { signal, check } = options;
      await transport.send({
        method: 'DELETE',
        path,
        body: deleteBody(options),
        what,
        signal,
        check,
      });
    },

    async *watch<T extends KubeObject>(
      resource: Resource,
      { namespace, signal, ...parameters }: WatchOptions,
    ) {
      const path =
        collectionPath(resource, namespace) +
        queryString({ watch: true, allowWatchBookmarks: true, ...parameters });
      const what = whatOf('watch', resource);
      for await (const line of lines(transport.stream({ method: 'GET', path, what, signal }))) {
        const event = parse<T>(line, transport.server);
        if (event.type === 'ERROR')
          throw new ApiError(event.object, event.object.code ?? 500, `Watch ${path}`);
        if (event.type !== 'BOOKMARK') whole(resource, event.object);
        yield event;
      }
    },
  };
}

/**
 * Reads every page of a list: 500 objects each, or fewer if these take more than 8 MiB. Throws a
 * 410 if a page expired: start over.
 * @param keep reduces an object before the next page is requested
 */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  options: Omit<ListOptions, 'limit' | 'continue'> = {},
  keep: (object: T) => T = (object) => object,
): Promise<{ items: T[]; resourceVersion: string }> {
  const items: T[] = [];
  let next: string | undefined;
  let limit = PAGE_SIZE;
  for (;;) {
    let page: KubeList<T>;
    try {
      page = await client.list<T>(resource, {
        ...options,
        // The version is part of the continue token; API servers refuse both at once.
        ...(next === undefined ? {} : { continue: next, resourceVersion: undefined }),
        limit,
        maxBytes: PAGE_BYTES,
      });
    } catch (error) {
      if (!(error instanceof AnswerTooLong) || limit === 1) throw error;
      limit = Math.ceil(limit / 4);
      continue;
    }
    items.push(...page.items.map(keep));
    next = page.metadata.continue || undefined;
    if (next === undefined) return { items, resourceVersion: page.metadata.resourceVersion };
  }
}

/**
 * Completes an object in place. MetalK8s's CRD accepts a Volume without a spec, so a MetalK8s
 * cluster may have one. Such a Volume gets an empty, invalid spec, so that readers of all Volumes
 * do not fail.
 */
function whole<T extends KubeObject>(resource: Resource, object: T): T {
  if (resource.kind === VOLUMES.kind)
    (object as { spec?: VolumeSpec | null }).spec ??= { ...NO_SPEC };
  return object;
}

const whatOf = (verb: string, { plural }: Resource, subresource?: string): What => ({
  verb,
  resource: subresource === undefined ? plural : `${plural}/${subresource}`,
});

/** Throws a ConnectionError for anything but JSON: a truncated line, or a proxy's. */
function parse<T extends KubeObject>(line: string, server: string): Watched<T> {
  try {
    return JSON.parse(line) as Watched<T>;
  } catch (cause) {
    throw new ConnectionError(server, 'the stream of a watch was cut off', { cause });
  }
}

const writeQuery = ({ dryRun, strict }: WriteOptions): string =>
  queryString({
    fieldManager: COMPONENT,
    dryRun: dryRun ? 'All' : undefined,
    fieldValidation: strict ? 'Strict' : undefined,
  });

function deleteBody({ uid, resourceVersion, propagationPolicy, dryRun }: DeleteOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(uid === undefined && resourceVersion === undefined
      ? {}
      : { preconditions: { uid, resourceVersion } }),
    propagationPolicy,
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
}
