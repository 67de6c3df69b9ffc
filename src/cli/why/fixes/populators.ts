import type { POPULATORS } from '../../../api/reasons/populators.ts';
import type { Fixes } from './types.ts';

export const populators: Fixes<typeof POPULATORS> = {};
