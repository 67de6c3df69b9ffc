import type { Io } from '../io.ts';

/** Whether standard output is a terminal on which lines can be drawn over. */
export const isScreen = ({ stdout, env }: Io): boolean =>
  Boolean(stdout.isTTY) && env.TERM !== 'dumb';
