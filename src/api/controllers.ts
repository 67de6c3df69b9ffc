import { StowageError } from './errors.ts';

/** What `--controllers` chooses from: each has a queue of its own. */
export const CONTROLLERS = [
  'volume',
  'leftover',
  'attachment',
  'claim',
  'snapshot',
  'backup',
  'data-source-validator',
  'populator',
] as const;
export type ControllerName = (typeof CONTROLLERS)[number];

/**
 * The controllers that a list enables, as kube-controller-manager reads it: `*` is all, `name` is that one, `-name` is all
 * but that one where there is a `*`. Throws a StowageError for a name that there is not, and where none is left.
 */
export function selectControllers(list: string): ReadonlySet<ControllerName> {
  const words = list.split(',').map((word) => word.trim());
  const known: readonly string[] = ['*', ...CONTROLLERS, ...CONTROLLERS.map((name) => `-${name}`)];
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    throw new StowageError('usage', `--controllers ${list}: there is no controller "${unknown}"`, {
      hint: `There are: ${CONTROLLERS.join(', ')}. Write * for all, and -NAME for all but one: '*,-leftover'.`,
    });
  }
  // The first mention of a name counts.
  const chosen = CONTROLLERS.filter((name) => {
    const word = words.find((each) => each === name || each === `-${name}`);
    return word === undefined ? words.includes('*') : word === name;
  });
  if (chosen.length === 0) {
    throw new StowageError('usage', `--controllers ${list}: no controller is left`, {
      hint: `Without a *, only the controllers that are named run. There are: ${CONTROLLERS.join(', ')}.`,
    });
  }
  return new Set(chosen);
}
