import type { KubeObject } from '../../../api/meta.ts';
import { COMPONENT } from '../../../api/names.ts';
import { VERSION } from '../../../api/version.ts';
import type { Component } from '../components.ts';

/** Who looks after an object. `uninstall` and upgrades remove what says `stowage`, and nothing else. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const COMPONENT_LABEL = 'app.kubernetes.io/component';
export const VERSION_LABEL = 'app.kubernetes.io/version';
export const NAME_LABEL = 'app.kubernetes.io/name';

/** What all objects of an installation carry; of a Namespace, which others fill too, nothing is said of a component. */
export const labelsOf = (component?: Component): Record<string, string> => ({
  [NAME_LABEL]: COMPONENT,
  [MANAGED_BY]: COMPONENT,
  [VERSION_LABEL]: VERSION,
  ...(component === undefined ? {} : { [COMPONENT_LABEL]: component }),
});

/** Who looks after an object, as it says itself; undefined where nobody claims it. */
export const managerOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.labels?.[MANAGED_BY];

export const isOurs = (object: KubeObject): boolean => managerOf(object) === COMPONENT;
