import { expect, test } from '@jest/globals';
import type { Resource } from '../../../src/api/meta.ts';
import { explain, type Reason, reason, reasonAnnotations } from '../../../src/api/reasons.ts';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import {
  createContentActionRunner,
  nothing,
} from '../../../src/controllers/snapshot/content-actions.ts';
import type { JobNote } from '../../../src/controllers/snapshot/job-record.ts';
import type { ContentAction } from '../../../src/controllers/snapshot/types.ts';
import { memoryLogger } from '../../support/logger.ts';
import { content, SNAPSHOT_UID } from '../../support/snapshot-objects.ts';

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

const NOTE = { do: 'take', node: 'n1' } as JobNote;
const VOLUME = { metadata: { name: 'data1', uid: 'v1' } };

/** @returns whether a job to take a copy may still be submitted, with these live objects */
async function isCurrent(live: VolumeSnapshotContent, volume?: object): Promise<boolean> {
  const decided = content({ metadata: { resourceVersion: '1' } });
  let answer = false;
  const cache = { recordWrite() {} };
  const runner = createContentActionRunner({
    client: {
      get: async ({ kind }: Resource) =>
        ({ VolumeSnapshotContent: live, Volume: volume, Node: { metadata: { name: 'n1' } } })[kind],
    },
    ...{ contents: cache, volumes: cache, nodes: cache, logger: memoryLogger() },
    volumeOf: () => VOLUME,
    work: {
      take: async (...[, , , , check]: [...unknown[], () => Promise<boolean>]) => {
        answer = await (check as () => Promise<boolean>)();
      },
    },
  } as never);
  await runner.carryOut({ do: 'take', note: NOTE } as never, decided, nothing);
  return answer;
}

const unchanged = content({ metadata: { resourceVersion: '1' } });
const paused = { 'stowage.dev/paused': '' };

test.each<[string, boolean, VolumeSnapshotContent, object?]>([
  ['of what was decided on', true, unchanged, VOLUME],
  ['of a content that changed', false, content({ metadata: { resourceVersion: '2' } }), VOLUME],
  [
    'of a paused content',
    false,
    content({ metadata: { resourceVersion: '1', annotations: paused } }),
    VOLUME,
  ],
  ['of another Volume of the name', false, unchanged, { metadata: { name: 'data1', uid: 'v2' } }],
  [
    'of a Volume that is being deleted',
    false,
    unchanged,
    { metadata: { ...VOLUME.metadata, deletionTimestamp: 't' } },
  ],
  [
    'of a paused Volume',
    false,
    unchanged,
    { metadata: { ...VOLUME.metadata, annotations: paused } },
  ],
])('a copy %s is taken: %p', async (_, isTaken, live, volume) => {
  expect(await isCurrent(live, volume)).toBe(isTaken);
});

test.each([
  [SNAPSHOT_UID, true],
  ['another', false],
])('the snapshot with the UID %s is that of the content: %p', async (uid, isFound) => {
  const live = { metadata: { name: 'backup', uid } };
  const runner = createContentActionRunner({
    ...{ client: { get: async () => live }, logger: memoryLogger() },
  } as never);
  const { liveSnapshot } = await runner.carryOut({ do: 'read-snapshot' }, content(), nothing);
  expect(liveSnapshot).toEqual({ found: isFound ? live : undefined });
});

test('a content is deleted by UID', async () => {
  const deleted: unknown[] = [];
  const runner = createContentActionRunner({
    client: {
      delete: async (...[, name, options]: unknown[]) => deleted.push([name, options]),
      get: async () => content(),
    },
    ...{ contents: { recordWrite() {} }, logger: memoryLogger() },
  } as never);
  await runner.carryOut({ do: 'delete-content' }, content(), nothing);
  const { name, uid } = content().metadata;
  expect(deleted).toEqual([[name, { uid }]]);
});
