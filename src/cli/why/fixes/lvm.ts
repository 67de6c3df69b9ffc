import type { LVM } from '../../../api/reasons/lvm.ts';
import type { Fixes } from './types.ts';

export const lvm: Fixes<typeof LVM> = {};
