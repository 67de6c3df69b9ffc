import type { Kind } from '../kind.ts';
import type { KindRegistry } from '../kind-registry.ts';
import { badRequest, noSuchPath } from '../refusal.ts';

/** Object or collection that the path of a request names. */
export interface Target {
  kind: Kind;
  namespace?: string;
  name?: string;
  status: boolean;
}

const RESOURCE_PATH =
  /^\/(?:api\/(?<core>v1)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/[^/]+)(?!\/status$))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?<status>\/status)?)?$/;

/**
 * Parses a path. Throws a 404 for a resource that is not served, and a 400 for an invalid escape.
 */
export function targetOf(path: string, kinds: KindRegistry): Target {
  const found = RESOURCE_PATH.exec(path)?.groups;
  if (found === undefined) throw noSuchPath(path.startsWith('/api/'));
  const { core, group = '', version = core ?? '', namespace, plural = '', name, status } = found;
  const kind = kinds.byPath(group, version, plural);
  const refused = () =>
    noSuchPath(
      kinds.all().some((one) => !one.custom && one.group === group && one.version === version),
    );
  if (kind === undefined || (namespace !== undefined && !kind.namespaced)) throw refused();
  if (status !== undefined && !kind.statusSubresource) throw refused();
  if (kind.namespaced && name !== undefined && namespace === undefined) throw refused();
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace: decoded(namespace) }),
    ...(name === undefined ? {} : { name: decoded(name) }),
    status: status !== undefined,
  };
}

/** Decodes a segment of a path. Throws a 400. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(segment)}`);
  }
}
