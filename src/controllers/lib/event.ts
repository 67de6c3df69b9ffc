import type { Explanation } from '../../api/reasons.ts';

export interface EventToSend extends Explanation {
  type: 'Normal' | 'Warning';
  reason: string;
  /** Additional key: events that differ in it are not duplicates, whatever their reason. */
  about?: string;
}

/** Clips text from elsewhere to the length that an event parameter may have. */
export const clipped = (text: string): string => text.slice(0, 900);
