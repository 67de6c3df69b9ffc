import { describe, expect, test } from '@jest/globals';
import {
  explain,
  type Reason,
  type ReasonCode,
  reason,
  reasonAnnotations,
} from '../../../src/api/reasons.ts';
import type { SnapshotHandle } from '../../../src/api/snapshot-handle.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { Room } from '../../../src/controllers/lib/capacity/capacity-cache.ts';
import type { ContentInput, NodeFacts } from '../../../src/controllers/snapshot/types.ts';
import {
  content,
  HANDLE,
  HANDLE_TEXT,
  note,
  PATH,
  SNAPSHOT_UID,
  snapshot,
  snapshotClass,
  volume,
} from '../../support/snapshot-objects.ts';
import { NOW } from '../../support/volume-input.ts';
import { at, decide, deleting, RECORDED, reports, WHOLE } from './content-decisions.ts';

const THIN = {
  sparseLoopDevice: undefined,
  lvmLogicalVolume: { vgName: 'vg0', thinPool: 'pool', size: '2Gi' },
} as unknown as Volume['spec'];
const FREEZE = { seconds: 10, copy: false };
const SILENT = { node: 'n1', seconds: 30 };
const away = (said: string) => reason('NodeUnreachable', { node: 'n1', said });

describe('taking a snapshot', () => {
  const fail = (why: string, code?: ReasonCode, more = {}) =>
    reports('SnapshotCreationFailed', `Failed to create snapshot: ${why}`, code, more);
  const named = (fields = {}) => ({ action: { do: 'write-note', note: note(fields) } });
  /** Returns a content with a recorded job. */
  const started = (change: Partial<ContentInput> = {}): Partial<ContentInput> => ({
    content: content({ note: note() }),
    ...change,
  });
  const failing = (message: string, parts = {}) =>
    content({
      status: {
        readyToUse: false,
        error: { message: `Failed to create snapshot: ${message}`, time: at },
      },
      ...parts,
    });

  /** Returns a content with a recorded job, whose status reports that it waits for its node. */
  const waiting = (detail: Reason, time = at) =>
    content({
      status: { readyToUse: false, error: { message: 'waiting for a node: x', time } },
      metadata: {
        annotations: {
          ...content({ note: note() }).metadata.annotations,
          ...reasonAnnotations(detail),
          'stowage.dev/error-time': time,
        },
      },
    });

  test.each<[string, Partial<ContentInput>, object]>([
    [
      'adds the finalizer first',
      { content: content({ metadata: { finalizers: ['x'] } }) },
      { action: { do: 'add-finalizer' } },
    ],
    [
      'refuses a content without a source',
      { content: content({ spec: { source: {} } }) },
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'spec.source must have exactly one of volumeHandle and snapshotHandle',
        'ContentSourceAmbiguous',
      ),
    ],
    [
      'refuses a content with two sources',
      {
        content: content({
          spec: { source: { volumeHandle: 'data1', snapshotHandle: HANDLE_TEXT } },
        }),
      },
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'spec.source must have exactly one of volumeHandle and snapshotHandle',
        'ContentSourceAmbiguous',
      ),
    ],
    ['records the job first', {}, named()],
    ['then submits the job', started(), { action: { do: 'take', note: note(), freeze: FREEZE } }],
    [
      'freezes as the class allows',
      started({
        snapshotClass: snapshotClass('fast', { parameters: { frozenCopySeconds: '60' } }),
      }),
      { action: { do: 'take', note: note(), freeze: { seconds: 60, copy: true } } },
    ],
    [
      'allows no frozen copy without the class',
      started({ snapshotClass: undefined }),
      { action: { do: 'take', note: note(), freeze: FREEZE } },
    ],
    ['waits for a running job', started({ outcome: { is: 'running' } }), { watch: note() }],
    ['records the copy', started({ outcome: WHOLE }), RECORDED],
    [
      'reports a failed job',
      started({ outcome: { is: 'failed', message: 'no room', detail: reason('JobDied') } }),
      fail('no room', 'JobDied'),
    ],
    [
      'then records another job',
      {
        content: failing('no room', { note: note({ at: NOW - 5000 }) }),
        outcome: { is: 'failed', message: 'no room' },
      },
      named({ attempt: 2, tries: 2 }),
    ],
    [
      'delays the next job',
      { content: content({ note: note({ attempt: 3, tries: 3, at: NOW - 500 }) }) },
      { requeueAfter: 1500 },
    ],
    [
      'submits the next job after the delay',
      { content: content({ note: note({ attempt: 3, tries: 3, at: NOW - 2000 }) }) },
      {
        action: {
          do: 'take',
          note: note({ attempt: 3, tries: 3, at: NOW - 2000 }),
          freeze: FREEZE,
        },
      },
    ],
    [
      'retries a refusal later',
      started({ outcome: { is: 'refused', message: 'mounted' } }),
      fail('mounted', undefined, { retry: true }),
    ],
    [
      'reports a refusal once',
      {
        content: failing('mounted', { note: note() }),
        outcome: { is: 'refused', message: 'mounted' },
      },
      { retry: true },
    ],
    [
      'reports a node that does not answer',
      started({ outcome: { is: 'unknown', message: 'node n1: away' } }),
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'waiting for a node: node n1: away',
        'SnapshotNodeAwaited',
        { retry: true },
      ),
    ],
    [
      'reports no other message of the same reason',
      {
        content: waiting(away('port 4000')),
        outcome: { is: 'unknown', message: 'node n1: away', detail: away('port 4001') },
      },
      { retry: true },
    ],
    [
      'reports another message of the same reason if the clock was set back',
      {
        content: waiting(away('port 4000'), new Date(NOW + 7_200_000).toISOString()),
        outcome: { is: 'unknown', message: 'node n1: away', detail: away('port 4001') },
      },
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'waiting for a node: node n1: away',
        'NodeUnreachable',
        { retry: true },
      ),
    ],
    [
      'reports another reason of the node',
      {
        content: waiting(reason('NodeSilent', SILENT)),
        outcome: { is: 'unknown', message: 'node n1: away', detail: away('port 4001') },
      },
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'waiting for a node: node n1: away',
        'NodeUnreachable',
        { retry: true },
      ),
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  describe('within unreserved capacity', () => {
    const SIZE = 2n ** 30n;
    const none = (free: string) =>
      `node n1 has ${free} available in /var/lib/metalk8s/storage/sparse, and the snapshot needs 1Gi`;
    const roomOf = (room: Room | undefined) => ({ roomOn: () => room });
    const PLACE = { type: 'sparse', directory: '/var/lib/metalk8s/storage/sparse' };
    const wait = { requeueAfter: 30_000 };
    const short = { node: 'n1', free: '5 bytes', place: PLACE.directory, wanted: '1Gi' };
    const annotations = {
      ...reasonAnnotations(reason('NoRoomForCopy', short)),
      'stowage.dev/error-time': at,
    };
    test.each<[string, Partial<ContentInput>, object]>([
      [
        'queries the capacity first',
        roomOf(undefined),
        { action: { do: 'observe-room', node: 'n1', place: PLACE } },
      ],
      ['can use all of it', roomOf({ freeBytes: SIZE }), named()],
      [
        'fails for one byte less',
        roomOf({ freeBytes: SIZE - 1n }),
        fail(none('1023Mi'), 'NoRoomForCopy', wait),
      ],
      [
        'fails if more is promised than exists',
        roomOf({ freeBytes: -SIZE }),
        fail(none('0 bytes'), 'NoRoomForCopy', wait),
      ],
      [
        'reports missing capacity once',
        {
          ...roomOf({ freeBytes: 7n }),
          content: failing(none('5 bytes'), { metadata: { annotations } }),
        },
        wait,
      ],
      [
        'reports missing capacity if only its reason was written',
        { ...roomOf({ freeBytes: 7n }), content: content({ metadata: { annotations } }) },
        fail(none('7 bytes'), 'NoRoomForCopy', wait),
      ],
      [
        'reports missing capacity if the reason is of an earlier error',
        {
          ...roomOf({ freeBytes: 7n }),
          content: failing('it broke', {
            metadata: { annotations: { ...annotations, 'stowage.dev/error-time': 'before' } },
          }),
        },
        fail(none('7 bytes'), 'NoRoomForCopy', wait),
      ],
      [
        'reports missing capacity after another error',
        { ...roomOf({ freeBytes: 7n }), content: failing('it broke') },
        fail(none('7 bytes'), 'NoRoomForCopy', wait),
      ],
      [
        'records a job once there is capacity',
        { ...roomOf({ freeBytes: SIZE }), content: failing(none('5 bytes')) },
        named(),
      ],
      [
        'waits while no volume can be provisioned',
        roomOf({ refused: 'not mounted' }),
        fail('node n1 has no available capacity: not mounted', 'NodeDirectoryUnusable', wait),
      ],
      [
        'waits for a node that does not answer',
        roomOf({ unknown: 'timed out' }),
        reports(
          'SnapshotContentCheckandUpdateFailed',
          'waiting for a node: available capacity of node n1 is unknown: timed out',
          'RoomUnknown',
          { retry: true },
        ),
      ],
      [
        'continues a recorded job, which has its capacity',
        started(roomOf({ freeBytes: 0n })),
        { action: { do: 'take', note: note(), freeze: FREEZE } },
      ],
      [
        'records the copy of a completed job',
        started({ ...roomOf({ freeBytes: 0n }), outcome: WHOLE }),
        RECORDED,
      ],
      [
        'waits for capacity before the next job, and reports nothing else',
        started({
          ...roomOf({ freeBytes: 0n }),
          outcome: { is: 'failed', message: 'No space left' },
        }),
        fail(none('0 bytes'), 'NoRoomForCopy', wait),
      ],
      [
        'runs the next job if the last one left the volume frozen',
        {
          content: failing('it was killed', { note: note() }),
          ...roomOf({ freeBytes: 0n }),
          outcome: { is: 'failed', message: 'it was killed', isFrozen: true },
        },
        named({ attempt: 2, tries: 2 }),
      ],
      [
        'counts the remains of the last job, which the next one removes',
        {
          content: failing('No space left', { note: note() }),
          ...roomOf({ freeBytes: SIZE - 4096n }),
          outcome: { is: 'failed', message: 'No space left', leftBytes: 4096n },
        },
        named({ attempt: 2, tries: 2 }),
      ],
      [
        'reports missing capacity of a thin pool',
        {
          ...roomOf({ freeBytes: 5n }),
          volume: {
            ...volume(),
            spec: { ...volume().spec, ...THIN },
          },
        },
        fail(
          'node n1 has 5 bytes available in volume group vg0, thin pool pool, and the snapshot needs 2Gi',
          'NoRoomForCopy',
          wait,
        ),
      ],
      [
        'needs no capacity for an existing copy',
        {
          ...roomOf({ freeBytes: 0n }),
          content: content({ status: { snapshotHandle: HANDLE_TEXT } }),
          outcome: WHOLE,
        },
        {
          action: {
            do: 'set-status',
            fields: { creationTime: NOW * 1e6 - 2e9, restoreSize: 2 ** 30, readyToUse: true },
          },
        },
      ],
    ])('%s', (_, fields, expected) => {
      expect(decide(fields)).toEqual(expected);
    });
  });

  test.each<
    [string, Partial<ContentInput>, string, ReasonCode, Record<string, Partial<NodeFacts>>?]
  >([
    [
      'a missing Volume',
      { volume: undefined, place: undefined },
      'Volume data1 does not exist, or is not the source of the snapshot',
      'SnapshotVolumeGone',
    ],
    [
      'a Volume that is being deleted',
      { volume: volume(deleting) },
      'Volume data1 is being deleted',
      'SnapshotVolumeBeingDeleted',
    ],
    [
      'a Volume that is not provisioned',
      { volume: { ...volume(), status: {} } },
      'Volume data1 is not provisioned yet',
      'SnapshotVolumeNotMade',
    ],
    [
      'an invalid class',
      { snapshotClass: snapshotClass('fast', { parameters: { frozen: '1' } }) },
      'VolumeSnapshotClass fast: unknown parameter "frozen" (known: frozenCopySeconds)',
      'SnapshotClassParameterUnknown',
    ],
    [
      'a kind without snapshots',
      { place: explain('SnapshotsOfKindNone', { volume: 'data1', kind: 'raw device' }) },
      'snapshots of Volume data1 are not supported: it is a raw device',
      'SnapshotsOfKindNone',
    ],
    ['a paused Node', {}, 'Node n1 is paused', 'SnapshotNodePaused', { n1: { paused: true } }],
    [
      'a paused Volume',
      { volume: volume({ annotations: { 'stowage.dev/paused': '' } }) },
      'Volume data1 is paused',
      'SnapshotVolumePaused',
    ],
    [
      'a paused content',
      { content: content({ metadata: { annotations: { 'stowage.dev/paused': '' } } }) },
      `the VolumeSnapshotContent snapcontent-${SNAPSHOT_UID} is paused`,
      'ContentPaused',
    ],
  ])('waits for %s', (...[, fields, why, code, nodes]) => {
    expect(decide(fields, nodes)).toEqual(fail(why, code));
    const { metadata } = fields.content ?? content();
    const told = failing(why, { metadata });
    expect(decide({ ...fields, content: told }, nodes)).toEqual({});
    if (fields.content !== undefined) return;
    // A job that is already recorded may have completed before.
    const was = started({ ...fields });
    expect(decide(was, nodes)).toEqual({
      action: { do: 'observe', node: 'n1', handle: HANDLE, note: note() },
    });
    expect(decide({ ...was, outcome: WHOLE }, nodes)).toEqual(RECORDED);
    expect(decide({ ...was, outcome: { is: 'absent' } }, nodes)).toEqual(fail(why, code));
  });

  test.each<[string, Partial<ContentInput>, object]>([
    ['is read once more', {}, { action: { do: 'read-snapshot' } }],
    [
      'has its content deleted',
      { liveSnapshot: { found: undefined } },
      { action: { do: 'delete-content' } },
    ],
    ['is taken if the API server has it', { liveSnapshot: { found: snapshot() } }, named()],
    [
      'is awaited for a pre-provisioned content',
      { content: content({ metadata: { name: 'by-hand' } }), liveSnapshot: { found: undefined } },
      fail('VolumeSnapshot apps/backup does not exist', 'SnapshotMissing'),
    ],
    ['is read once more if a copy may exist', started(), { action: { do: 'read-snapshot' } }],
    [
      'has its content deleted with the copy',
      started({ liveSnapshot: { found: undefined }, outcome: WHOLE }),
      { action: { do: 'delete-content' } },
    ],
    [
      'does not stop a copy with the policy Retain',
      { content: content({ note: note(), spec: { deletionPolicy: 'Retain' } }) },
      { action: { do: 'take', note: note(), freeze: FREEZE } },
    ],
    [
      'does not delete a duplicated content',
      { content: content({ note: note(), metadata: { uid: 'another' } }), outcome: WHOLE },
      RECORDED,
    ],
  ])('a snapshot that is gone %s', (_, fields, expected) => {
    expect(decide({ snapshot: undefined, ...fields })).toEqual(expected);
  });

  test('replaces a node that is off by another node with the same files', () => {
    const shared: SnapshotHandle = { type: 'file', path: PATH, nodes: ['n1', 'n2'] };
    const fields = {
      content: content({ note: note({ handle: shared }) }),
      place: { node: 'n2', handle: shared },
    };
    expect(decide(fields, { n1: { off: true, ready: false } })).toEqual({
      action: {
        do: 'write-note',
        note: note({ node: 'n2', handle: shared, attempt: 2, tries: 2 }),
      },
    });
    expect(decide(fields, { n1: { ready: false } })).toEqual({
      action: { do: 'take', note: note({ handle: shared }), freeze: FREEZE },
    });
  });

  test('reports an unreachable node at once after another error', () => {
    const was = { message: 'Failed to create snapshot: no room', time: at };
    const fields = {
      content: content({ note: note(), status: { readyToUse: false, error: was } }),
    };
    expect(decide({ ...fields, outcome: { is: 'unknown', message: 'away' } })).toEqual(
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'waiting for a node: away',
        'SnapshotNodeAwaited',
        {
          retry: true,
        },
      ),
    );
  });

  test('does nothing on nodes of another process', () => {
    const theirs = { n1: { ours: false } };
    expect(decide({}, theirs)).toEqual({});
    expect(decide(started(), theirs)).toEqual({});
    expect(
      decide({ content: content({ status: { snapshotHandle: HANDLE_TEXT } }) }, theirs),
    ).toEqual({});
  });
});
