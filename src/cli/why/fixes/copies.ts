import type { COPIES } from '../../../api/reasons/copies.ts';
import type { Fixes } from './types.ts';

export const copies: Fixes<typeof COPIES> = {
  CopiedFileInUse: ({ device = 'the device' }) => ({
    say: `End that use of ${device}, or use another device.`,
  }),
};
