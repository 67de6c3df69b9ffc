import type { Job, Probe } from '../../job.ts';
import { stepJson } from '../../step-json.ts';

/** As the module takes a look. */
export const argvsOf = (probes: readonly Probe[]) => probes.map(({ argv }) => argv);

/** What the module takes of a job. */
export function jobArguments({ key, steps, look }: Job): Readonly<Record<string, unknown>> {
  return {
    subject: key.subject,
    job: key.id,
    steps: steps.map(stepJson),
    ...(look && { probes: argvsOf(look) }),
  };
}
