import { InvalidArgumentError } from 'commander';

/** The parts of an installation, in the order in which they are made. */
export const COMPONENTS = [
  'crds',
  'snapshot-crds',
  'referencegrant-crd',
  'populator-crds',
  'rbac',
  'deployment',
] as const;
export type Component = (typeof COMPONENTS)[number];

/** Those that are nobody's but Stowage's: what is installed unless more is asked for. */
export const OWN_COMPONENTS: readonly Component[] = ['crds', 'rbac', 'deployment'];

/** `a,b`, also given several times; each once, in the order in which they are made. */
export function components(text: string, before: readonly Component[] = []): Component[] {
  const given = text.split(',');
  const unknown = given.find((name) => !COMPONENTS.some((component) => component === name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `${JSON.stringify(unknown)} is no component: there are ${COMPONENTS.join(', ')}.`,
    );
  }
  return COMPONENTS.filter((component) => given.includes(component) || before.includes(component));
}
