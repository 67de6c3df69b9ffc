import type { NODES } from '../../../api/reasons/nodes.ts';
import type { Fixes } from './types.ts';

export const nodes: Fixes<typeof NODES> = {};
