import type { ATTACHMENTS } from '../../../api/reasons/attachments.ts';
import type { Fixes } from './types.ts';

export const attachments: Fixes<typeof ATTACHMENTS> = {};
