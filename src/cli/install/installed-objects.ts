import type { KubeObject, Resource } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  NETWORK_POLICIES,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
  VOLUME_POPULATORS,
} from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Component } from '../lib/components.ts';
import { COMPONENT_LABEL, MANAGED_BY } from '../lib/objects/installed-labels.ts';
import { isAsInstalled, isStandard } from './standard.ts';

export interface Installed {
  resource: Resource;
  object: KubeObject;
}

/** Kinds of each component, in the order of removal. */
const KINDS: Readonly<Record<Component, readonly Resource[]>> = {
  deployment: [DEPLOYMENTS, NETWORK_POLICIES],
  rbac: [ROLE_BINDINGS, ROLES, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, SERVICE_ACCOUNTS],
  crds: [CUSTOM_RESOURCE_DEFINITIONS],
  'snapshot-crds': [CUSTOM_RESOURCE_DEFINITIONS],
  'referencegrant-crd': [CUSTOM_RESOURCE_DEFINITIONS],
  'populator-crds': [VOLUME_POPULATORS, CUSTOM_RESOURCE_DEFINITIONS],
};

/**
 * Returns the objects of a component with Stowage's label, in all namespaces. Objects of standard
 * kinds must still be as Stowage made them: others may install over them and keep the labels.
 */
export async function installedOf(
  client: Pick<KubeClient, 'list'>,
  component: Component,
  signal: AbortSignal,
): Promise<Installed[]> {
  const labelSelector = `${MANAGED_BY}=${COMPONENT},${COMPONENT_LABEL}=${component}`;
  const found: Installed[] = [];
  for (const resource of KINDS[component]) {
    const items = await objectsOf(client, resource, { labelSelector, signal });
    const ours = isStandard(component) ? items.filter(isAsInstalled) : items;
    found.push(...ours.map((object) => ({ resource, object })));
  }
  return found;
}

async function objectsOf(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  options: { labelSelector: string; signal: AbortSignal },
): Promise<KubeObject[]> {
  try {
    return (await listAll<KubeObject>(client, resource, options)).items;
  } catch (error) {
    // The kind does not exist either.
    if (isNotFound(error)) return [];
    throw error;
  }
}
