import type { KubeObject, Resource } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Component } from './components.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
} from './kinds.ts';
import { COMPONENT_LABEL, MANAGED_BY } from './labels.ts';

export interface Installed {
  resource: Resource;
  object: KubeObject;
}

/** The kinds of each component, in the order in which they are removed. */
const KINDS: Readonly<Record<Component, readonly Resource[]>> = {
  deployment: [DEPLOYMENTS],
  rbac: [ROLE_BINDINGS, ROLES, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, SERVICE_ACCOUNTS],
  crds: [CUSTOM_RESOURCE_DEFINITIONS],
};

/** The objects of a component that carry Stowage's label, whatever namespace they are in. */
export async function installedOf(
  client: Pick<KubeClient, 'list'>,
  component: Component,
  signal: AbortSignal,
): Promise<Installed[]> {
  const labelSelector = `${MANAGED_BY}=${COMPONENT},${COMPONENT_LABEL}=${component}`;
  const found: Installed[] = [];
  for (const resource of KINDS[component]) {
    const { items } = await listAll<KubeObject>(client, resource, { labelSelector, signal });
    found.push(...items.map((object) => ({ resource, object })));
  }
  return found;
}
