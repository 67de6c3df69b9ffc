import type { Io } from '../io.ts';

/** Whether there is a person to ask. Questions are on standard error: standard output may well go elsewhere. */

export function isInteractive({ stdin, stderr, env }: Io): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY) && env.TERM !== 'dumb';
}
