import { StowageError } from './errors.ts';

/**
 * Values of `--controllers`, which Leases and metrics name, too. So they stay, though `attachment`
 * is in the directory `attachdetach`, and `claim` in `provisioner`. Each controller has a queue of
 * its own.
 */
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
 * Returns the controllers that a list enables, as in kube-controller-manager: `*` is all,
 * `name` is one, and `-name` excludes one from `*`. Throws StowageError for an unknown
 * name or if no controller is left.
 */
export function selectControllers(list: string): ReadonlySet<ControllerName> {
  const words = list.split(',').map((word) => word.trim());
  const known: readonly string[] = ['*', ...CONTROLLERS, ...CONTROLLERS.map((name) => `-${name}`)];
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    throw new StowageError('usage', `--controllers ${list}: unknown controller "${unknown}"`, {
      hint: `Known controllers: ${CONTROLLERS.join(', ')}. Use * for all, and -NAME to exclude one: '*,-leftover'.`,
    });
  }
  // The first mention of a name counts.
  const chosen = CONTROLLERS.filter((name) => {
    const word = words.find((each) => each === name || each === `-${name}`);
    return word === undefined ? words.includes('*') : word === name;
  });
  if (chosen.length === 0) {
    throw new StowageError('usage', `--controllers ${list}: no controller is enabled`, {
      hint: `Name at least one, or use * for all: without it, only the named controllers run. Known controllers: ${CONTROLLERS.join(', ')}.`,
    });
  }
  return new Set(chosen);
}
