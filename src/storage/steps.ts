import type { Plan } from './types.ts';

/**
 * Joins the plans that provision and attach a new volume: no step needs the output of an earlier
 * one.
 */
export function inOneJob(first: Plan, second: (made: readonly unknown[]) => Plan): Plan {
  if ('refusal' in first) return first;
  const then = second(first.steps);
  return 'refusal' in then ? then : { steps: [...first.steps, ...then.steps] };
}
