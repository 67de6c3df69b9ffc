import type { FILES } from '../../../api/reasons/files.ts';
import type { Fixes } from './types.ts';

export const files: Fixes<typeof FILES> = {};
