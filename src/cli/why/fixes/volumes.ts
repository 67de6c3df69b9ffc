import type { VOLUMES } from '../../../api/reasons/volumes.ts';
import type { Fixes } from './types.ts';

export const volumes: Fixes<typeof VOLUMES> = {};
