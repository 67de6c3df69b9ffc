import { expect } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import { decideContent } from '../../../src/controllers/snapshot/decide-content.ts';
import type { ContentInput, NodeFacts } from '../../../src/controllers/snapshot/types.ts';
import { contentInput, DELETED, HANDLE_TEXT } from '../../support/snapshot-objects.ts';
import { NOW } from '../../support/volume-input.ts';

/** Decisions about a VolumeSnapshotContent, and the statuses that they set. */

export const decide = (fields: Partial<ContentInput>, nodes?: Record<string, Partial<NodeFacts>>) =>
  decideContent(contentInput(fields, nodes), NOW);
export const at = new Date(NOW).toISOString();
/** Matches an event with the reason's code. */
export const of = (code: ReasonCode | undefined) =>
  code && { detail: expect.objectContaining({ code }) };
export const reports = (reason: string, message: string, code?: ReasonCode, more = {}) => ({
  action: {
    do: 'set-status',
    fields: { readyToUse: false, error: { message, time: at } },
    event: { type: 'Warning', reason, message, ...of(code) },
  },
  ...more,
});
export const WHOLE = { is: 'whole', sizeBytes: 2 ** 30, takenAt: NOW - 2000 } as const;
export const RECORDED = {
  action: {
    do: 'set-status',
    fields: {
      snapshotHandle: HANDLE_TEXT,
      creationTime: (NOW - 2000) * 1e6,
      restoreSize: 2 ** 30,
      readyToUse: true,
    },
  },
};
export const deleting = { deletionTimestamp: DELETED };
