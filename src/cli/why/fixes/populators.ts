import type { POPULATORS } from '../../../api/reasons/populators.ts';
import { GATE_ON } from './claims.ts';
import type { Fixes } from './types.ts';

/** Fixes for events on claims, which tenants can forge. */
export const populators: Fixes<typeof POPULATORS> = {
  PopulatorGateOff: () => GATE_ON,
  PodRefused: () => ({
    say: "Give the PopulatorDefinition what the daemon's namespace demands, such as spec.pod.resources or spec.pod.securityContext, or change that policy.",
    run: ['stowage get populators'],
  }),
};
