import type { KubeObject } from '../../../api/meta.ts';
import { COMPONENT } from '../../../api/names.ts';
import { VERSION } from '../../../api/version.ts';
import type { Component } from '../components.ts';

/** Label for the manager of an object. `uninstall` and upgrades remove only those of `stowage`. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const COMPONENT_LABEL = 'app.kubernetes.io/component';
export const VERSION_LABEL = 'app.kubernetes.io/version';
export const NAME_LABEL = 'app.kubernetes.io/name';

/**
 * Returns the labels of all objects of an installation. A Namespace has none for the component,
 * since it holds other objects too.
 */
export const labelsOf = (component?: Component): Record<string, string> => ({
  [NAME_LABEL]: COMPONENT,
  [MANAGED_BY]: COMPONENT,
  [VERSION_LABEL]: VERSION,
  ...(component === undefined ? {} : { [COMPONENT_LABEL]: component }),
});

/** Returns the manager of an object, from its label; undefined without one. */
export const managerOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.labels?.[MANAGED_BY];

export const isOurs = (object: KubeObject): boolean => managerOf(object) === COMPONENT;
