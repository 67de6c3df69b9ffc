import { apiVersionOf, type KubeObject, type Resource } from '../../api/meta.ts';
import type { Component } from '../lib/components.ts';

/** An object of an installation, as it is wanted: what it does not say is left to others. */
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

/** As kubectl writes it: `deployment.apps/stowage`. */
export function titleOf(resource: Resource, { metadata }: KubeObject): string {
  const kind = resource.kind.toLowerCase();
  const group = resource.group === '' ? '' : `.${resource.group}`;
  const place = resource.namespaced ? ` in namespace ${metadata.namespace}` : '';
  return `${kind}${group}/${metadata.name}${place}`;
}
