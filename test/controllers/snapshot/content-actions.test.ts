import { expect, test } from '@jest/globals';
import type { Resource } from '../../../src/api/meta.ts';
import { explain, type Reason, reason, reasonAnnotations } from '../../../src/api/reasons.ts';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import {
  createContentActionRunner,
  nothing,
} from '../../../src/controllers/snapshot/content-actions.ts';
import type { ContentAction } from '../../../src/controllers/snapshot/types.ts';
import { memoryLogger } from '../../support/logger.ts';
import { content } from '../../support/snapshot-objects.ts';

/**
 * Runs an action with an API server that only accepts writes of the newest version.
 * @returns its requests and events
 */
async function carryOut(action: ContentAction, annotations: Record<string, string> = {}) {
  const sent: object[] = [];
  const told: unknown[] = [];
  let live = content({ metadata: { annotations, resourceVersion: '1' } });
  const client = {
    async patch(_: Resource, __: string, patch: VolumeSnapshotContent, { subresource = '' }) {
      const { uid, resourceVersion, ...metadata } = patch.metadata;
      expect([uid, resourceVersion]).toEqual([live.metadata.uid, live.metadata.resourceVersion]);
      sent.push(subresource === 'status' ? { status: patch.status } : metadata);
      live = {
        ...live,
        metadata: { ...live.metadata, resourceVersion: `${Number(resourceVersion) + 1}` },
      };
      return live;
    },
  };
  const runner = createContentActionRunner({
    ...{ client, contents: { recordWrite() {} }, logger: memoryLogger() },
    events: { event: (...[, , , , detail]: unknown[]) => told.push(detail) },
  } as never);
  await runner.carryOut(action, live, nothing);
  return { sent, told };
}

const WHY = explain('SnapshotVolumePaused', { volume: 'data1' });
const problem = { readyToUse: false, error: { message: WHY.message, time: 't' } };
const event = { type: 'Warning', reason: 'SnapshotCreationFailed', ...WHY } as const;
const failing: ContentAction = { do: 'set-status', fields: problem, event };
const of = (detail: Reason) => ({ ...reasonAnnotations(detail), 'stowage.dev/error-time': 't' });
const other: Reason = reason('NodeSilent', { node: 'n1', seconds: 30 });

test.each<[string, ContentAction, Reason | undefined, object[]]>([
  ['before the error', failing, undefined, [{ annotations: of(WHY.detail) }, { status: problem }]],
  [
    'in place of an earlier reason',
    failing,
    other,
    [{ annotations: of(WHY.detail) }, { status: problem }],
  ],
  ['only once', failing, WHY.detail, [{ status: problem }]],
  [
    'until the error is over',
    { do: 'set-status', fields: { readyToUse: true, error: null } },
    other,
    [
      {
        annotations: {
          ...{ 'stowage.dev/reason': null, 'stowage.dev/parameters': null },
          'stowage.dev/error-time': null,
        },
      },
      { status: { readyToUse: true, error: null } },
    ],
  ],
  [
    'and kept by other changes',
    { do: 'set-status', fields: { restoreSize: 1 } },
    other,
    [{ status: { restoreSize: 1 } }],
  ],
])('the reason of an error is written into the content %s', async (_, action, before, requests) => {
  expect((await carryOut(action, before && of(before))).sent).toEqual(requests);
});

test('events have the reason of the error, too', async () => {
  expect((await carryOut(failing)).told).toEqual([WHY.detail]);
  expect((await carryOut({ do: 'emit-event', event })).told).toEqual([WHY.detail]);
});
