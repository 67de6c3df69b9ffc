import { StowageError } from '../api/errors.ts';
import type { Resource } from '../api/meta.ts';

/**
 * A name as one path segment. Encoding is not enough: API servers decode the path before they split it, so that
 * `x/status` would be a subresource, '..' another kind and '' the whole collection. Kubernetes forbids such names
 * too (apimachinery, IsValidPathSegmentName). Throws a StowageError for them.
 */
function segment(value: string, what: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new StowageError('usage', `${JSON.stringify(value)} cannot be the name of a ${what}`, {
      hint: "Names are not empty, not '.' or '..', and contain neither '/' nor '%'.",
    });
  }
  return encodeURIComponent(value);
}

/** The path of a collection, or across all namespaces when a namespaced kind is given none. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const scope =
    resource.namespaced && namespace !== undefined
      ? `/namespaces/${segment(namespace, 'namespace')}`
      : '';
  return `${root}/${resource.version}${scope}/${resource.plural}`;
}

/** The path of one object, or of its subresource. Throws a StowageError for a name that cannot exist. */
export function objectPath(
  resource: Resource,
  namespace: string | undefined,
  name: string,
  subresource?: string,
): string {
  requireNamespace(resource, namespace);
  const path = `${collectionPath(resource, namespace)}/${segment(name, resource.kind)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Objects of namespaced kinds are only addressed inside one. Throws a StowageError. */
export function requireNamespace(resource: Resource, namespace: string | undefined): void {
  if (resource.namespaced && namespace === undefined) {
    throw new StowageError('usage', `A ${resource.kind} is in a namespace, and none was given`, {
      hint: 'Give one with --namespace.',
    });
  }
}

/** `?a=b&c=d` of the parameters that are set, or ''. */
export function queryString(
  parameters: Record<string, string | number | boolean | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined) query.append(key, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}
