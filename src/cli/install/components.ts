import { InvalidArgumentError } from 'commander';

/** The parts of an installation, in the order in which they are made. */
export const COMPONENTS = ['crds', 'rbac', 'deployment'] as const;
export type Component = (typeof COMPONENTS)[number];

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
