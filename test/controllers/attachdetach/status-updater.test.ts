import { expect, test } from '@jest/globals';
import type { PersistentVolume, Pod } from '../../../src/api/core.ts';
import { type Explanation, explain, type Reason } from '../../../src/api/reasons.ts';
import type { Attachment, Condition, Volume } from '../../../src/api/volume.ts';
import { attachmentsOf } from '../../../src/controllers/attachdetach/attached-nodes-annotation.ts';
import {
  createStatusUpdater,
  type StatusUpdaterDeps,
} from '../../../src/controllers/attachdetach/status-updater.ts';
import type {
  NodeAttachment,
  ReconcileDecision,
} from '../../../src/controllers/attachdetach/types.ts';
import type { VolumeState } from '../../../src/controllers/attachdetach/volume-state.ts';
import type { Informer } from '../../../src/kube/informer.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { EMIT_AGAIN_AFTER } from '../../../src/workqueue/emit-again.ts';
import { entry, MINUTE, NOW, pvObject, use, volumeObject } from '../../support/attachment-view.ts';

const entries = [entry('n1', {}, 'p1')];

/**
 * Returns the writes for these entries if the Volume's status has `attachments`, and `pv` is its
 * PersistentVolume.
 */
async function writes(
  attachments: Attachment[],
  now: readonly NodeAttachment[],
  conditions: Condition[] = [],
  pv?: PersistentVolume,
): Promise<object[]> {
  const patches: object[] = [];
  const volume = volumeObject({}, { attachments, conditions });
  const patch = async (_resource: object, _name: string, body: object) => {
    patches.push(body);
    return volume;
  };
  const records = createStatusUpdater({
    client: { patch } as unknown as KubeClient,
    volumes: { recordWrite() {} } as unknown as Informer<Volume>,
    persistentVolumes: { get: () => pv, recordWrite() {} } as unknown as Informer<PersistentVolume>,
    events: { event() {}, flush: async () => {} },
  });
  const known = { uid: 'u1', name: 'v1', volume, entries: now } as unknown as VolumeState;
  expect(await records.write(known, volume)).toBe(true);
  return patches;
}

/**
 * Sorts keys, as a real API server does in custom resources: its maps are unordered and are written
 * alphabetically.
 */
const sorted = (attachments: readonly Attachment[]): Attachment[] =>
  attachments.map(
    (each) => Object.fromEntries(Object.entries(each).sort()) as unknown as Attachment,
  );

test('an unchanged status is not written, in any order of its keys', async () => {
  expect(await writes(sorted(attachmentsOf(entries)), entries)).toEqual([]);
});

test('a changed status is written', async () => {
  const patches = await writes(sorted(attachmentsOf(entries)), [entry('n1')]);
  expect(patches).toMatchObject([{ status: { attachments: [{ node: 'n1', pods: [] }] } }]);
});

test.each<[string, number | undefined, boolean]>([
  ['not reported missing, is not written', undefined, false],
  ['reported missing before that, is not written', 25, false],
  ['reported missing after that, is written', 15, true],
])('an attachment shown with an earlier since, %s', async (_, minutes, isWritten) => {
  const before = new Date(NOW - 20 * MINUTE).toISOString();
  const missed = {
    type: 'Ready',
    status: 'Unknown' as const,
    reason: 'Attaching',
    lastUpdateTime: new Date(NOW - (minutes ?? 0) * MINUTE).toISOString(),
  };
  const shown = attachmentsOf(entries).map((each) => ({ ...each, since: before }));
  const written = await writes(shown, entries, minutes === undefined ? [] : [missed]);
  const own = { since: new Date(NOW - 10 * MINUTE).toISOString() };
  expect(written).toMatchObject(isWritten ? [{ status: { attachments: [own] } }] : []);
});

test('the record is written only to the PersistentVolume of the Volume', async () => {
  const shown = sorted(attachmentsOf(entries));
  const annotations = { 'stowage.dev/attached-nodes': '["n1"]' };
  expect(await writes(shown, entries, [], pvObject())).toMatchObject([
    { metadata: { uid: 'pv-uid', annotations } },
  ]);
  const theirs = pvObject({ local: { path: '/dev/disk/by-uuid/theirs' } }, { ownerReferences: [] });
  expect(await writes(shown, entries, [], theirs)).toEqual([]);
});

test('a pod gets a new event only if a reason changes: its own or the inner one', () => {
  const told: [string, Reason | undefined][] = [];
  const event = (...[, , , message, detail]: [object, string, string, string, Reason?]) =>
    void told.push([message, detail]);
  const { emitEvents: tell } = createStatusUpdater({
    events: { event, flush: async () => {} },
  } as unknown as StatusUpdaterDeps);
  const known = { ...{ entries: [], emittedEvents: new Map(), failures: new Map() } };
  const needed = [{ pod: {} as Pod, use: use('p1', 'n1') }];
  const because = (why: Explanation, inner?: Explanation) => {
    const blocked = [{ node: 'n1', pods: [], reason: 'multi-attach', ...why, inner }];
    tell(known as unknown as VolumeState, { blocked } as unknown as ReconcileDecision, needed, 0);
    return told.length;
  };
  const held = { volume: 'v1', use: 'used', node: 'n2', state: 'Attached' };
  const multi = explain('MultiAttach', held);
  expect(because(multi)).toBe(1);
  expect(because({ ...multi, message: 'in other words' })).toBe(1);
  expect(because(explain('MultiAttach', { ...held, state: 'Detaching' }))).toBe(2);
  expect(because(multi, explain('StillAttached'))).toBe(3);
  expect(because(multi, { ...explain('StillAttached'), message: 'in other words' })).toBe(3);
  expect(because(multi, { message: 'without a reason' })).toBe(4);
  expect(because(multi, { message: 'without another' })).toBe(5);
  expect(told.map(([, detail]) => detail?.code)).toEqual(Array(5).fill('MultiAttach'));
});

test('a pod gets one blocked event per event lifetime, and one event when attached', () => {
  const events: string[] = [];
  const event = (_pod: object, _type: string, _reason: string, message: string) =>
    void events.push(message);
  const records = createStatusUpdater({
    events: { event, flush: async () => {} },
  } as unknown as StatusUpdaterDeps);
  const known = {
    ...{ uid: 'u1', name: 'v1', entries: [] as NodeAttachment[] },
    emittedEvents: new Map(),
    failures: new Map(),
  };
  const pod = { metadata: { name: 'p1' } } as Pod;
  const needed = [{ pod, use: use('p1', 'n1') }];
  const blocked = [{ node: 'n1', pods: [], reason: 'paused' as const, message: 'paused' }];
  const tell = (next: object, now: number) =>
    records.emitEvents(
      known as unknown as VolumeState,
      { blocked: [], ...next } as unknown as ReconcileDecision,
      needed,
      now,
    );
  for (const now of [0, EMIT_AGAIN_AFTER - 1]) tell({ blocked }, now);
  expect(events).toEqual(['paused']);
  tell({ blocked }, EMIT_AGAIN_AFTER);
  expect(events).toEqual(['paused', 'paused']);
  known.entries = [entry('n1', {}, 'p1')];
  for (const now of [EMIT_AGAIN_AFTER + 1, 3 * EMIT_AGAIN_AFTER]) tell({}, now);
  expect(events.slice(2)).toEqual(['Volume "v1" is attached to node n1']);
});
