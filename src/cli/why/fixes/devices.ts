import type { DEVICES } from '../../../api/reasons/devices.ts';
import type { Fixes } from './types.ts';

export const devices: Fixes<typeof DEVICES> = {};
