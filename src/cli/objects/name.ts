import type { KubeObject } from '../../api/meta.ts';

/** As kubectl prints names: `<kind>.<group>/<name>`. */
export function nameOf({ apiVersion, kind, metadata }: KubeObject): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [];
  return `${kind.toLowerCase()}${group === undefined ? '' : `.${group}`}/${metadata.name}`;
}
