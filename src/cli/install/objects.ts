import { stringify } from 'yaml';
import { CRDS } from '../../api/crds.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../api/resources.ts';
import { VERSION } from '../../api/version.ts';
import type { Component } from '../lib/components.ts';
import { labelsOf } from '../lib/objects/installed-labels.ts';
import { deploymentObject } from './deployment.ts';
import { networkPolicyObject } from './network-policy.ts';
import { rbacObjects } from './rbac.ts';
import { isStandard, standardObjects } from './standard.ts';
import type { Values } from './values.ts';
import { type Wanted, wanted } from './wanted.ts';

export const NAMESPACE = 'stowage';
/** Name of an image that was built or loaded on the nodes: no registry has it. */
export const IMAGE = `stowage:${VERSION}`;

export interface Installation {
  components: readonly Component[];
  namespace: string;
  image: string;
  values?: Values;
}

/** Returns all objects of an installation, in the order of creation. */
export function wantedObjects({ components, namespace, image, values }: Installation): Wanted[] {
  const has = (component: Component) => components.includes(component);
  const objects = [
    ...(has('crds') ? CRDS.map(crd) : []),
    ...components.filter(isStandard).flatMap(standardObjects),
    ...(has('rbac') || has('deployment')
      ? [wanted(NAMESPACES, undefined, { metadata: { name: namespace, labels: labelsOf() } })]
      : []),
    ...(has('rbac') ? rbacObjects(namespace) : []),
    ...(has('deployment')
      ? [networkPolicyObject(namespace), deploymentObject(namespace, image, values)]
      : []),
  ];
  return objects.map((each) => labeled(each, values?.labels));
}

/** Adds labels to an object; those of Stowage stay. */
function labeled(wanted: Wanted, labels: Record<string, string> | undefined): Wanted {
  if (labels === undefined) return wanted;
  const { metadata } = wanted.object;
  const all = { ...labels, ...metadata.labels };
  return { ...wanted, object: { ...wanted.object, metadata: { ...metadata, labels: all } } };
}

const crd = ({ metadata, spec }: { metadata: { name: string }; spec: object }): Wanted =>
  wanted(CUSTOM_RESOURCE_DEFINITIONS, 'crds', {
    metadata: { ...metadata, labels: labelsOf('crds') },
    spec,
  });

/** Returns a manifest for `kubectl apply`. */
export const manifestOf = (objects: readonly Wanted[]): string =>
  objects
    .map(
      ({ object }) =>
        `---\n${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' })}`,
    )
    .join('');
