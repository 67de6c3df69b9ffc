import { decide } from '../../../src/controllers/populator/decide.ts';
import type {
  PopulatorDecision,
  PopulatorInput,
} from '../../../src/controllers/populator/types.ts';
import { annotated, claim, input, NOW, prime, storageClass } from './input.ts';

/** Objects at the first stages of populating a claim, and summaries of decisions. */

export const DELETED = { metadata: { deletionTimestamp: '2026-11-22T11:00:00Z' } };
export const SELECTED = 'volume.kubernetes.io/selected-node';
export const waiting = storageClass({ volumeBindingMode: 'WaitForFirstConsumer' });
export const populated = annotated(prime(), { 'stowage.dev/populated-by': 'pod-uid' });
export const bound = (more: object = {}) =>
  claim({ spec: { volumeName: 'pv' }, status: { phase: 'Bound' }, ...more });
/** Returns the action of a decision in short form, with the text of its event. */
export const short = ({ action, requeueAfter }: PopulatorDecision): string => {
  if (action === undefined) return requeueAfter === undefined ? 'rest' : `rest ${requeueAfter}`;
  return action.do === 'emit-event'
    ? `emit ${action.event.reason}: ${action.event.message}`
    : action.do;
};
export const decided = (change: Partial<PopulatorInput>) => short(decide(input(change), NOW));
