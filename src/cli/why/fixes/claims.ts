import type { CLAIMS } from '../../../api/reasons/claims.ts';
import type { Fixes } from './types.ts';

export const claims: Fixes<typeof CLAIMS> = {};
