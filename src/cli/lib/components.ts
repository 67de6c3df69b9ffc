import { InvalidArgumentError } from 'commander';

/** Parts of an installation, in the order of their creation. */
export const COMPONENTS = [
  'crds',
  'snapshot-crds',
  'referencegrant-crd',
  'populator-crds',
  'rbac',
  'deployment',
] as const;
export type Component = (typeof COMPONENTS)[number];

/** Parts that belong to Stowage alone, and are installed by default. */
export const OWN_COMPONENTS: readonly Component[] = ['crds', 'rbac', 'deployment'];

/** Parses `a,b`, also given several times. Returns each part once, in the order of creation. */
export function components(text: string, before: readonly Component[] = []): Component[] {
  const given = text.split(',');
  const unknown = given.find((name) => !COMPONENTS.some((component) => component === name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `${JSON.stringify(unknown)} is not a component: the components are ${COMPONENTS.join(', ')}.`,
    );
  }
  return COMPONENTS.filter((component) => given.includes(component) || before.includes(component));
}
