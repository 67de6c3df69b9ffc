import type { COPIES } from '../../../api/reasons/copies.ts';
import type { Fixes } from './types.ts';

export const copies: Fixes<typeof COPIES> = {};
