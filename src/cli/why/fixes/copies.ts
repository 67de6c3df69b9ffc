import type { COPIES } from '../../../api/reasons/copies.ts';
import type { Fixes } from './types.ts';

export const copies: Fixes<typeof COPIES> = {
  CopiedFileInUse: ({ device = 'the device' }) => ({
    say: `Take ${device} out of use, as the message says it is, or use another device.`,
  }),
};
