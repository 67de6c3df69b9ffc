import type { Kind } from '../kind.ts';
import type { Kinds } from '../kinds.ts';
import { noSuchPath } from '../refusal.ts';

/** What the path of a request names. */
export interface Target {
  kind: Kind;
  namespace?: string;
  name?: string;
  status: boolean;
}

const RESOURCE_PATH =
  /^\/(?:api\/(?<core>v1)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/[^/]+)(?!\/status$))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?<status>\/status)?)?$/;

/** Throws a 404 for what is not served. */
export function targetOf(path: string, kinds: Kinds): Target {
  const found = RESOURCE_PATH.exec(path)?.groups;
  if (found === undefined) throw noSuchPath();
  const { core, group = '', version = core ?? '', namespace, plural = '', name, status } = found;
  const kind = kinds.byPath(group, version, plural);
  if (kind === undefined || (namespace !== undefined && !kind.namespaced)) throw noSuchPath();
  if (status !== undefined && !kind.statusSubresource) throw noSuchPath();
  if (kind.namespaced && name !== undefined && namespace === undefined) throw noSuchPath();
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace: decodeURIComponent(namespace) }),
    ...(name === undefined ? {} : { name: decodeURIComponent(name) }),
    status: status !== undefined,
  };
}
