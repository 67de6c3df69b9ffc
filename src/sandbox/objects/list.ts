import type { KubeList } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { badRequest, expired, resourceName } from '../refusal.ts';
import { fieldMatcher, labelMatcher, type Matcher } from '../selectors.ts';
import { keyOf } from '../store.ts';
import { type Cluster, inVersion } from './cluster.ts';
import { formatContinue, parseContinue } from './continue.ts';
import { type ListOptions, versionNumber } from './list-options.ts';

/** Returns a matcher for the objects of a list or watch. Throws a 400 for an invalid selector. */
export function selection(
  kind: Kind,
  namespace: string | undefined,
  query: URLSearchParams,
): Matcher {
  const tests = [
    labelMatcher(query.get('labelSelector') ?? ''),
    fieldMatcher(query.get('fieldSelector') ?? '', kind),
  ];
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    tests.every((test) => test(object));
}

/** Scope of a list: all objects of a kind, of a namespace or of a selection. */
export interface Scope {
  matches: Matcher;
  /** The server does not count the remaining objects of a selection. */
  isSelection: boolean;
}

/**
 * Returns a page of matching objects. All pages show the state at the time of the first one. Throws
 * a 410 if that state is forgotten.
 */
export function list(
  cluster: Cluster,
  kind: Kind,
  { matches, isSelection }: Scope,
  options: ListOptions,
): KubeList<StoredObject> {
  const { version, key, objects } = start(cluster, kind, options);
  const rest = objects.filter((object) => keyOfObject(object) > key && matches(object));
  const items = options.limit > 0 ? rest.slice(0, options.limit) : rest;
  const last = items.at(-1);
  const more = last !== undefined && items.length < rest.length;
  return {
    apiVersion: apiVersionOf(kind),
    kind: `${kind.kind}List`,
    metadata: {
      resourceVersion: String(version),
      // Lists of custom resources always have `continue`.
      ...(more
        ? { continue: formatContinue({ version, key: keyOfObject(last) }) }
        : kind.custom
          ? { continue: '' }
          : {}),
      ...(more && !isSelection ? { remainingItemCount: rest.length - items.length } : {}),
    },
    items: items.map((item) => inVersion(kind, item)),
  };
}

/** Returns the state to list, and the key after which the page starts. */
function start({ store }: Cluster, kind: Kind, options: ListOptions) {
  const table = resourceName(kind);
  if (options.continue !== '') {
    const { version, key } = parseContinue(options.continue);
    if (options.resourceVersion !== '' && options.resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    const objects = store.listAt(table, version);
    if (objects === undefined)
      throw expired(
        'The provided continue parameter is too old to display a consistent list result.',
      );
    return { version, key, objects };
  }
  const version = versionNumber(options.resourceVersion);
  const exact =
    options.resourceVersionMatch === 'Exact' ||
    (options.resourceVersionMatch === '' && options.limit > 0 && version > 0);
  if (!exact) return { version: store.version, key: '', objects: store.list(table) };
  const objects = store.listAt(table, version);
  if (objects === undefined) throw expired(`too old resource version: ${version}`);
  return { version, key: '', objects };
}

const keyOfObject = ({ metadata }: StoredObject) => keyOf(metadata.namespace, metadata.name);
