import type { JOBS } from '../../../api/reasons/jobs.ts';
import type { Fixes } from './types.ts';

export const jobs: Fixes<typeof JOBS> = {};
