import type { BACKUPS } from '../../../api/reasons/backups.ts';
import type { Fixes } from './types.ts';

export const backups: Fixes<typeof BACKUPS> = {};
