import { Chalk, type ChalkInstance } from 'chalk';
import type { Io, Output } from '../io.ts';

/** Returns colors for a stream. $NO_COLOR (no-color.org), --no-color or no terminal: none. */
export function colorsFor(stream: Output, env: Io['env'], wanted = true): ChalkInstance {
  return new Chalk({
    level: wanted && stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? 1 : 0,
  });
}
