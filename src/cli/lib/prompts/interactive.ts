import type { Io } from '../io.ts';

/** Reports whether a person can be asked. Questions use stderr: stdout may be redirected. */
export function isInteractive({ stdin, stderr, env, asksElsewhere }: Io): boolean {
  return asksElsewhere === true || (Boolean(stdin.isTTY && stderr.isTTY) && env.TERM !== 'dumb');
}
