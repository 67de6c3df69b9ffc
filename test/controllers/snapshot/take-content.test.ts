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
import { at, decide, deleting, RECORDED, said, WHOLE } from './content-decisions.ts';

const THIN = {
  sparseLoopDevice: undefined,
  lvmLogicalVolume: { vgName: 'vg0', thinPool: 'pool', size: '2Gi' },
} as unknown as Volume['spec'];
const FREEZE = { seconds: 10, copy: false };
const SILENT = { node: 'n1', seconds: 30 };
const away = (said: string) => reason('NodeUnreachable', { node: 'n1', said });

describe('taking a snapshot', () => {
  const fail = (why: string, code?: ReasonCode, more = {}) =>
    said('SnapshotCreationFailed', `Failed to create snapshot: ${why}`, code, more);
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
  const waiting = (detail: Reason) =>
    content({
      status: { readyToUse: false, error: { message: 'waiting for a node: x', time: at } },
      metadata: {
        annotations: {
          ...content({ note: note() }).metadata.annotations,
          ...reasonAnnotations(detail),
          'stowage.dev/error-time': at,
        },
      },
    });

  test.each<[string, Partial<ContentInput>, object]>([
    [
      'it is protected first',
      { content: content({ metadata: { finalizers: ['x'] } }) },
      { action: { do: 'add-finalizer' } },
    ],
    [
      'a content without a source',
      { content: content({ spec: { source: {} } }) },
      said(
        'SnapshotContentCheckandUpdateFailed',
        'spec.source must have exactly one of volumeHandle and snapshotHandle',
        'ContentSourceAmbiguous',
      ),
    ],
    [
      'a content with two',
      {
        content: content({
          spec: { source: { volumeHandle: 'data1', snapshotHandle: HANDLE_TEXT } },
        }),
      },
      said(
        'SnapshotContentCheckandUpdateFailed',
        'spec.source must have exactly one of volumeHandle and snapshotHandle',
        'ContentSourceAmbiguous',
      ),
    ],
    ['the job is named first', {}, named()],
    ['and then submitted', started(), { action: { do: 'take', note: note(), freeze: FREEZE } }],
    [
      'with what the class allows',
      started({
        snapshotClass: snapshotClass('fast', { parameters: { frozenCopySeconds: '60' } }),
      }),
      { action: { do: 'take', note: note(), freeze: { seconds: 60, copy: true } } },
    ],
    [
      'a class that is gone allows no frozen copy',
      started({ snapshotClass: undefined }),
      { action: { do: 'take', note: note(), freeze: FREEZE } },
    ],
    [
      'while it runs, its end is waited for',
      started({ outcome: { is: 'running' } }),
      { follow: note() },
    ],
    ['the copy is recorded', started({ outcome: WHOLE }), RECORDED],
    [
      'a job that failed is told',
      started({ outcome: { is: 'failed', message: 'no room', detail: reason('JobDied') } }),
      fail('no room', 'JobDied'),
    ],
    [
      'and another one named',
      {
        content: failing('no room', { note: note({ at: NOW - 5000 }) }),
        outcome: { is: 'failed', message: 'no room' },
      },
      named({ attempt: 2, tries: 2 }),
    ],
    [
      'which is submitted later',
      { content: content({ note: note({ attempt: 3, tries: 3, at: NOW - 500 }) }) },
      { requeueAfter: 1500 },
    ],
    [
      'when its time has come',
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
      'what was refused is asked again later',
      started({ outcome: { is: 'refused', message: 'mounted' } }),
      fail('mounted', undefined, { retry: true }),
    ],
    [
      'and told once',
      {
        content: failing('mounted', { note: note() }),
        outcome: { is: 'refused', message: 'mounted' },
      },
      { retry: true },
    ],
    [
      'a node that is away is told',
      started({ outcome: { is: 'unknown', message: 'node n1: away' } }),
      said(
        'SnapshotContentCheckandUpdateFailed',
        'waiting for a node: node n1: away',
        'SnapshotNodeAwaited',
        { retry: true },
      ),
    ],
    [
      'whatever else it says of that soon after is not',
      {
        content: waiting(away('port 4000')),
        outcome: { is: 'unknown', message: 'node n1: away', detail: away('port 4001') },
      },
      { retry: true },
    ],
    [
      'but another reason is',
      {
        content: waiting(reason('NodeSilent', SILENT)),
        outcome: { is: 'unknown', message: 'node n1: away', detail: away('port 4001') },
      },
      said(
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
    const none = (free: bigint) =>
      `node n1 has ${free} bytes available in /var/lib/metalk8s/storage/sparse, and the snapshot needs ${SIZE}`;
    const roomOf = (room: Room | undefined) => ({ roomOn: () => room });
    const PLACE = { type: 'sparse', directory: '/var/lib/metalk8s/storage/sparse' };
    const wait = { requeueAfter: 30_000 };
    const short = { node: 'n1', free: 5n, place: PLACE.directory, wanted: SIZE };
    const annotations = {
      ...reasonAnnotations(reason('NoRoomForCopy', short)),
      'stowage.dev/error-time': at,
    };
    test.each<[string, Partial<ContentInput>, object]>([
      [
        'which is looked for',
        roomOf(undefined),
        { action: { do: 'look-for-room', node: 'n1', place: PLACE } },
      ],
      ['all of it', roomOf({ freeBytes: SIZE }), named()],
      [
        'a byte less is too little',
        roomOf({ freeBytes: SIZE - 1n }),
        fail(none(SIZE - 1n), 'NoRoomForCopy', wait),
      ],
      [
        'where more is promised than there is',
        roomOf({ freeBytes: -SIZE }),
        fail(none(0n), 'NoRoomForCopy', wait),
      ],
      [
        'said once, whatever room there is by then',
        { ...roomOf({ freeBytes: 7n }), content: failing(none(5n), { metadata: { annotations } }) },
        wait,
      ],
      [
        'said where only its reason was written before the daemon ended',
        { ...roomOf({ freeBytes: 7n }), content: content({ metadata: { annotations } }) },
        fail(none(7n), 'NoRoomForCopy', wait),
      ],
      [
        'said where the reason is of an error before',
        {
          ...roomOf({ freeBytes: 7n }),
          content: failing('it broke', {
            metadata: { annotations: { ...annotations, 'stowage.dev/error-time': 'before' } },
          }),
        },
        fail(none(7n), 'NoRoomForCopy', wait),
      ],
      [
        'said again after something else',
        { ...roomOf({ freeBytes: 7n }), content: failing('it broke') },
        fail(none(7n), 'NoRoomForCopy', wait),
      ],
      [
        'and named once there is',
        { ...roomOf({ freeBytes: SIZE }), content: failing(none(5n)) },
        named(),
      ],
      [
        'where no volume may be made',
        roomOf({ refused: 'not mounted' }),
        fail('node n1 has no available capacity: not mounted', 'NodeDirectoryUnusable', wait),
      ],
      [
        'of a node that does not answer',
        roomOf({ unknown: 'timed out' }),
        said(
          'SnapshotContentCheckandUpdateFailed',
          'waiting for a node: available capacity of node n1 is unknown: timed out',
          'RoomUnknown',
          { retry: true },
        ),
      ],
      [
        'a job that is named goes on: it has its room',
        started(roomOf({ freeBytes: 0n })),
        { action: { do: 'take', note: note(), freeze: FREEZE } },
      ],
      [
        'and so does one that ran',
        started({ ...roomOf({ freeBytes: 0n }), outcome: WHOLE }),
        RECORDED,
      ],
      [
        'the next job waits for it, and says nothing else',
        started({
          ...roomOf({ freeBytes: 0n }),
          outcome: { is: 'failed', message: 'No space left' },
        }),
        fail(none(0n), 'NoRoomForCopy', wait),
      ],
      [
        'but not where the last one left the volume frozen, which it ends',
        {
          content: failing('it was killed', { note: note() }),
          ...roomOf({ freeBytes: 0n }),
          outcome: { is: 'failed', message: 'it was killed', isFrozen: true },
        },
        named({ attempt: 2, tries: 2 }),
      ],
      [
        'but not for what the last one left, which it removes',
        {
          content: failing('No space left', { note: note() }),
          ...roomOf({ freeBytes: SIZE - 4096n }),
          outcome: { is: 'failed', message: 'No space left', leftBytes: 4096n },
        },
        named({ attempt: 2, tries: 2 }),
      ],
      [
        'of a thin pool',
        {
          ...roomOf({ freeBytes: 5n }),
          volume: {
            ...volume(),
            spec: { ...volume().spec, ...THIN },
          },
        },
        fail(
          `node n1 has 5 bytes available in volume group vg0, thin pool pool, and the snapshot needs ${2n * SIZE}`,
          'NoRoomForCopy',
          wait,
        ),
      ],
      [
        'a copy that is there needs none',
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
      'no Volume',
      { volume: undefined, place: undefined },
      'Volume data1 does not exist, or is not the source of the snapshot',
      'SnapshotVolumeGone',
    ],
    [
      'a Volume that goes',
      { volume: volume(deleting) },
      'Volume data1 is being deleted',
      'SnapshotVolumeBeingDeleted',
    ],
    [
      'a Volume that is not made',
      { volume: { ...volume(), status: {} } },
      'Volume data1 is not provisioned yet',
      'SnapshotVolumeNotMade',
    ],
    [
      'a wrong class',
      { snapshotClass: snapshotClass('fast', { parameters: { frozen: '1' } }) },
      'VolumeSnapshotClass fast: unknown parameter "frozen" (known: frozenCopySeconds)',
      'SnapshotClassParameterUnknown',
    ],
    [
      'a kind of which there are none',
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
      'a pause of its own',
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
      action: { do: 'look', node: 'n1', handle: HANDLE, note: note() },
    });
    expect(decide({ ...was, outcome: WHOLE }, nodes)).toEqual(RECORDED);
    expect(decide({ ...was, outcome: { is: 'absent' } }, nodes)).toEqual(fail(why, code));
  });

  test.each<[string, Partial<ContentInput>, object]>([
    ['is looked up once more', {}, { action: { do: 'read-snapshot' } }],
    [
      'lets nothing be taken',
      { liveSnapshot: { found: undefined } },
      { action: { do: 'delete-content' } },
    ],
    ['that is there, after all, is taken', { liveSnapshot: { found: snapshot() } }, named()],
    [
      'of a content made by hand may yet come',
      { content: content({ metadata: { name: 'by-hand' } }), liveSnapshot: { found: undefined } },
      fail('VolumeSnapshot apps/backup does not exist', 'SnapshotMissing'),
    ],
    [
      'is looked up once more, also when something may have been taken',
      started(),
      { action: { do: 'read-snapshot' } },
    ],
    [
      'takes with it what may have been taken',
      started({ liveSnapshot: { found: undefined }, outcome: WHOLE }),
      { action: { do: 'delete-content' } },
    ],
    [
      'leaves what is retained',
      { content: content({ note: note(), spec: { deletionPolicy: 'Retain' } }) },
      { action: { do: 'take', note: note(), freeze: FREEZE } },
    ],
    [
      'leaves a copy that is not its own, of a content that was copied',
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
      said(
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
