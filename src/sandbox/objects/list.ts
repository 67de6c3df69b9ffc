import type { KubeList } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { badRequest, expired, resourceName } from '../refusal.ts';
import { fieldMatcher, labelMatcher, type Matcher } from '../selectors.ts';
import { keyOf } from '../store.ts';
import type { Cluster } from './cluster.ts';

/** Which objects of a kind a list or watch is about. Throws a 400 for a selector that cannot be parsed. */
export function selection(kind: Kind, namespace: string | undefined, query: URLSearchParams): Matcher {
  const tests = [
    labelMatcher(query.get('labelSelector') ?? ''),
    fieldMatcher(query.get('fieldSelector') ?? '', kind),
  ];
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    tests.every((test) => test(object));
}

/** Where a page starts: after `key`, in the state of `version`. */
interface Continuation {
  version: number;
  key: string;
}

/**
 * A page of what matches. All pages show the state at the time of the first one.
 * Throws a 410 when that state is no longer remembered.
 */
export function list(
  cluster: Cluster,
  kind: Kind,
  matches: Matcher,
  query: URLSearchParams,
): KubeList<StoredObject> {
  const limit = Number(query.get('limit') ?? 0);
  const token = query.get('continue');
  const from = token ? parse(token) : { version: cluster.store.version, key: '' };
  const table = resourceName(kind);
  const objects = token ? cluster.store.listAt(table, from.version) : cluster.store.list(table);
  if (objects === undefined)
    throw expired('The provided continue parameter is too old to display a consistent list result.');
  const rest = objects.filter((object) => keyOfObject(object) > from.key && matches(object));
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const last = items.at(-1);
  const more = last !== undefined && items.length < rest.length;
  return {
    apiVersion: apiVersionOf(kind),
    kind: `${kind.kind}List`,
    metadata: {
      resourceVersion: String(from.version),
      ...(more
        ? {
            continue: format({ version: from.version, key: keyOfObject(last) }),
            remainingItemCount: rest.length - items.length,
          }
        : {}),
    },
    items,
  };
}

const keyOfObject = ({ metadata }: StoredObject) => keyOf(metadata.namespace, metadata.name);

const format = (from: Continuation) => Buffer.from(JSON.stringify(from)).toString('base64url');

function parse(token: string): Continuation {
  try {
    const { version, key } = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof version === 'number' && typeof key === 'string') return { version, key };
  } catch {
    // Refused below.
  }
  throw badRequest('continue key is not valid: it was not issued by this server');
}
