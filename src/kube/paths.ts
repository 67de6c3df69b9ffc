import { StowageError } from '../api/errors.ts';
import type { Resource } from '../api/meta.ts';

/**
 * Returns a name as one path segment. Encoding is not enough: API servers decode the path before
 * they split it. So `x/status` would be a subresource, '..' another kind and '' the whole
 * collection. Kubernetes forbids such names too (apimachinery, IsValidPathSegmentName). Throws a
 * StowageError for them.
 */
function segment(value: string, what: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new StowageError('usage', `${JSON.stringify(value)} cannot be the name of a ${what}`, {
      hint: "Use a name that is not empty, not '.' or '..', and contains neither '/' nor '%'.",
    });
  }
  return encodeURIComponent(value);
}

/** Returns the path of a collection; across all namespaces if a namespaced kind is given none. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const scope =
    resource.namespaced && namespace !== undefined
      ? `/namespaces/${segment(namespace, 'namespace')}`
      : '';
  return `${root}/${resource.version}${scope}/${resource.plural}`;
}

/** Returns the path of an object or its subresource. Throws a StowageError for an invalid name. */
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

/** Throws a StowageError for a namespaced kind without a namespace. */
export function requireNamespace(resource: Resource, namespace: string | undefined): void {
  if (resource.namespaced && namespace === undefined) {
    throw new StowageError(
      'usage',
      `${resource.kind} is a namespaced kind, and no namespace was given`,
      {
        hint: 'Set it with --namespace.',
      },
    );
  }
}

/** Returns `?a=b&c=d` with the parameters that are set, or ''. */
export function queryString(
  parameters: Record<string, string | number | boolean | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined) query.append(key, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}
