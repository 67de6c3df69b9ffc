import type { FILLS } from '../../../api/reasons/fills.ts';
import type { Fixes } from './types.ts';

export const fills: Fixes<typeof FILLS> = {};
