import { Chalk, type ChalkInstance } from 'chalk';
import type { Io, Output } from '../io.ts';

/** Colours for a stream: none when it is no terminal, $NO_COLOR is set (no-color.org) or --no-color is given. */
export function coloursFor(stream: Output, env: Io['env'], wanted = true): ChalkInstance {
  return new Chalk({
    level: wanted && stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? 1 : 0,
  });
}
