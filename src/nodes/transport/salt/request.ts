import type { Job, Probe } from '../../job.ts';
import { stepJson } from '../../step-json.ts';

/** Returns probes in the format of the module. */
export const argvsOf = (probes: readonly Probe[]) => probes.map(({ argv }) => argv);

/** Returns the module's arguments for a job. */
export function jobArguments({ key, steps, finalProbes }: Job): Readonly<Record<string, unknown>> {
  return {
    subject: key.subject,
    job: key.id,
    steps: steps.map(stepJson),
    ...(finalProbes && { probes: argvsOf(finalProbes) }),
  };
}
