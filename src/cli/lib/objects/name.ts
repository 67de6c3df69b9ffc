import type { KubeObject, Resource } from '../../../api/meta.ts';

/** Returns an object's name as kubectl prints it: `<kind>.<group>/<name>`. */
export function nameOf({ apiVersion, kind, metadata }: KubeObject): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [];
  return `${kind.toLowerCase()}${group === undefined ? '' : `.${group}`}/${metadata.name}`;
}

/** Returns the same for a name of a kind that is in a group. */
export const nameIn = ({ kind, group }: Pick<Resource, 'kind' | 'group'>, name: string): string =>
  `${kind.toLowerCase()}.${group}/${name}`;
