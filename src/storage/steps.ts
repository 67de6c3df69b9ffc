import type { Plan } from './types.ts';

/** A new volume is attached in the same job that makes it: no step needs what an earlier one prints. */
export function inOneJob(first: Plan, second: (made: readonly unknown[]) => Plan): Plan {
  if ('refusal' in first) return first;
  const then = second(first.steps);
  return 'refusal' in then ? then : { steps: [...first.steps, ...then.steps] };
}
