import type { DIRECTORIES } from '../../../api/reasons/directories.ts';
import type { Fixes } from './types.ts';

export const directories: Fixes<typeof DIRECTORIES> = {};
