import { apiVersionOf, type KubeObject, type Resource } from '../../api/meta.ts';
import type { Component } from '../lib/components.ts';

/** Wanted object of an installation; fields that it does not set are left to others. */
export interface Wanted {
  resource: Resource;
  component: Component | undefined;
  object: KubeObject;
}

export const wanted = (
  resource: Resource,
  component: Component | undefined,
  fields: { metadata: KubeObject['metadata'] } & Record<string, unknown>,
): Wanted => ({
  resource,
  component,
  object: { apiVersion: apiVersionOf(resource), kind: resource.kind, ...fields },
});

/** Returns a title as kubectl writes it, such as `deployment.apps/stowage`, with the namespace. */
export function titleOf(resource: Resource, { metadata }: KubeObject): string {
  const kind = resource.kind.toLowerCase();
  const group = resource.group === '' ? '' : `.${resource.group}`;
  const place = resource.namespaced ? ` in namespace ${metadata.namespace}` : '';
  return `${kind}${group}/${metadata.name}${place}`;
}
