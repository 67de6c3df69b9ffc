import { DECISIONS } from './decisions.ts';
import { OBJECTS } from './objects.ts';
import { OBSERVATIONS } from './observations.ts';
import type { Target } from './target.ts';
import { TRANSPORTS } from './transports.ts';

/** All targets. Their shares add up to 1. */
export const TARGETS: readonly Target[] = [
  ...TRANSPORTS,
  ...OBSERVATIONS,
  ...OBJECTS,
  ...DECISIONS,
];
