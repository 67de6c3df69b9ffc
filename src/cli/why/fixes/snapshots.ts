import type { SNAPSHOTS } from '../../../api/reasons/snapshots.ts';
import type { Fixes } from './types.ts';

export const snapshots: Fixes<typeof SNAPSHOTS> = {};
