import type { Explanation } from '../../api/reasons.ts';

export interface EventToSend extends Explanation {
  type: 'Normal' | 'Warning';
  reason: string;
  /** Told besides: an event that tells something else is another one, whatever its reason. */
  about?: string;
}

/** Words of others as a parameter: as many as an event has room for. */
export const clipped = (said: string): string => said.slice(0, 900);
