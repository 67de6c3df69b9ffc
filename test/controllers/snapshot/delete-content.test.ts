import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { SnapshotHandle } from '../../../src/api/snapshot-handle.ts';
import type { ContentInput } from '../../../src/controllers/snapshot/types.ts';
import {
  CONTENT_UID,
  content,
  HANDLE,
  HANDLE_TEXT,
  note,
  PATH,
  restore,
  snapshot,
} from '../../support/snapshot-objects.ts';
import { NOW, UID } from '../../support/volume-input.ts';
import { at, decide, deleting, of, said, WHOLE } from './content-decisions.ts';

describe('deleting a content', () => {
  const RELEASE = { action: { do: 'release' } };
  const taken = { snapshotHandle: HANDLE_TEXT, readyToUse: true };
  const going = (parts: Parameters<typeof content>[0] = {}) =>
    content({ status: taken, ...parts, metadata: { ...parts.metadata, ...deleting } });
  const removal = note({ do: 'delete' });
  const withNote = (which = removal, status: object = taken) => {
    const { annotations = {} } = content({ note: which }).metadata;
    return content({ status, metadata: { ...deleting, annotations } });
  };
  const gone = {
    snapshot: undefined,
    volume: undefined,
    place: undefined,
    snapshotClass: undefined,
  };
  const fail = (why: string, code?: ReasonCode, more = {}) =>
    said('SnapshotDeleteError', why, code, more);
  const hold = (message: string, code: ReasonCode) => ({
    action: {
      do: 'tell',
      event: { type: 'Warning', reason: 'SnapshotDeletePending', message, ...of(code) },
    },
  });
  const named = (fields = {}) => ({
    action: { do: 'write-note', note: note({ do: 'delete', ...fields }) },
  });

  test.each<[string, Partial<ContentInput>, object]>([
    [
      'is not ours to hold',
      { content: content({ metadata: { ...deleting, finalizers: ['x'] } }) },
      {},
    ],
    [
      'waits for its snapshot',
      { snapshot: snapshot() },
      hold(
        'VolumeSnapshot apps/backup still uses the content: delete the VolumeSnapshot',
        'ContentOfSnapshot',
      ),
    ],
    ['goes with its snapshot', { snapshot: snapshot({ metadata: deleting }) }, named()],
    [
      'waits for what is made from it',
      { restores: [restore()] },
      hold('Volume restored is being provisioned from the content', 'ContentBeingRestored'),
    ],
    [
      'with the policy Retain leaves the copy',
      { content: going({ spec: { deletionPolicy: 'Retain' } }) },
      RELEASE,
    ],
    ['with nothing taken', { content: going({ status: {} }) }, RELEASE],
    ['with a copy that is of another, too', { isOfAnother: () => true }, RELEASE],
    [
      'with a handle that no snapshot can have',
      {
        content: going({ status: {}, spec: { source: { snapshotHandle: 'file:n1:/etc/shadow' } } }),
      },
      RELEASE,
    ],
    [
      'with a copy that somebody else named',
      { content: going({ status: {}, spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
      named(),
    ],
    ['names a job first', {}, named()],
    ['then submits it', { content: withNote() }, { action: { do: 'delete', note: removal } }],
    [
      'waits while it runs',
      { content: withNote(), outcome: { is: 'running' } },
      { follow: removal },
    ],
    ['is done when nothing is left', { content: withNote(), outcome: { is: 'absent' } }, RELEASE],
    [
      'removes what a job may have taken that told nobody',
      { content: withNote(note(), {}), outcome: WHOLE },
      named({ attempt: 2 }),
    ],
    [
      'tells of a job that failed',
      { content: withNote(), outcome: { is: 'failed', message: 'io' } },
      fail('Failed to delete snapshot: io'),
    ],
    [
      'tells of a node that is away',
      { content: withNote(), outcome: { is: 'unknown', message: 'away' } },
      fail('waiting for a node: away', 'SnapshotNodeAwaited', { retry: true }),
    ],
    [
      'tells what is refused',
      { content: withNote(), outcome: { is: 'refused', message: 'held' } },
      fail('Failed to delete snapshot: held', undefined, { retry: true }),
    ],
    [
      'waits longer each time',
      { content: withNote(note({ do: 'delete', attempt: 9, tries: 2, at: NOW - 400 })) },
      { requeueAfter: 600 },
    ],
    [
      'tells that the copy stayed',
      { content: withNote(), outcome: WHOLE },
      fail('Failed to delete snapshot: the copy still exists', 'SnapshotCopyStays'),
    ],
    ['of which all else is gone', gone, named()],
    [
      'of which the Volume went before it was recorded',
      { ...gone, content: withNote(note(), {}), outcome: { is: 'absent' } },
      named({ attempt: 2 }),
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide({ content: going(), snapshot: undefined, ...fields })).toEqual(
      // The subject of the jobs is the Volume, whose UID only the Volume and the job record
      // contain.
      'volume' in fields && fields.content === undefined
        ? named({ volume: CONTENT_UID })
        : expected,
    );
  });

  test('records another job after the failure of one was reported', () => {
    const failed = { message: 'Failed to delete snapshot: io', time: at };
    const told = withNote(removal, { ...taken, readyToUse: false, error: failed });
    expect(
      decide({ content: told, snapshot: undefined, outcome: { is: 'failed', message: 'io' } }),
    ).toEqual(named({ attempt: 2, tries: 2 }));
  });

  test('waits for a deleted node until forget-node names the content', () => {
    const away = { n1: { exists: false, ready: false } };
    const name = content().metadata.name;
    const unknown = { is: 'unknown', message: 'no such host' } as const;
    expect(decide({ content: going(), ...gone, outcome: unknown }, away)).toEqual(
      fail(
        `waiting for a node: Node n1 does not exist: no such host. To leave the copy there: kubectl annotate volumesnapshotcontent ${name} stowage.dev/forget-node=${CONTENT_UID}`,
        'SnapshotNodeAwaited',
        { retry: true },
      ),
    );
    const forget = (uid: string) =>
      going({ metadata: { annotations: { 'stowage.dev/forget-node': uid } } });
    expect(decide({ content: forget(CONTENT_UID), ...gone }, away)).toEqual(RELEASE);
    expect(decide({ content: forget(UID), ...gone }, away)).not.toEqual(RELEASE);
  });

  test.each([
    ['Node n1', going(), { n1: { paused: true } }, 'SnapshotNodePaused'],
    [
      'the VolumeSnapshotContent',
      going({ metadata: { annotations: { 'stowage.dev/paused': '' } } }),
      {},
      'ContentPaused',
    ],
  ] as const)('waits while %s is paused', (what, paused, nodes, code) => {
    expect(decide({ content: paused, snapshot: undefined }, nodes)).toEqual(
      fail(`${what} is paused; the deletion waits`, code),
    );
  });

  test('waits for a job that still takes the snapshot, unless its node is off', () => {
    const taking = note();
    const fields = { content: withNote(taking, {}), snapshot: undefined };
    const look = { action: { do: 'look', node: 'n1', handle: HANDLE, note: taking } };
    expect(decide(fields)).toEqual(look);
    expect(decide({ ...fields, outcome: { is: 'running' } })).toEqual({ follow: taking });
    const away: ContentInput['outcome'] = { is: 'unknown', message: 'no such host' };
    expect(decide({ ...fields, outcome: away })).toEqual(
      fail('waiting for a node: no such host', 'SnapshotNodeAwaited', { retry: true }),
    );
    expect(decide(fields, { n1: { off: true } })).toEqual(named({ attempt: 2 }));
    expect(decide(fields, { n1: { ours: false } })).toEqual({});
    // A pause only affects writes.
    expect(decide(fields, { n1: { paused: true } })).toEqual(look);
    expect(decide({ ...fields, outcome: WHOLE }, { n1: { paused: true } })).toEqual(
      fail('Node n1 is paused; the deletion waits', 'SnapshotNodePaused'),
    );
  });

  describe('with the policy Retain', () => {
    const retained = (which = note(), parts: Parameters<typeof content>[0] = {}) => {
      const { annotations } = content({ note: which }).metadata;
      const metadata = { ...deleting, annotations: { ...annotations }, ...parts.metadata };
      return content({ ...parts, spec: { deletionPolicy: 'Retain', ...parts.spec }, metadata });
    };
    const REMOVE = { action: { do: 'delete', note: note({ do: 'delete', attempt: 2 }) } };
    const half = retained(note({ do: 'delete', attempt: 2 }));

    test.each<[string, Partial<ContentInput>, object]>([
      [
        'a job that takes it may still run',
        {},
        { action: { do: 'look', node: 'n1', handle: HANDLE, note: note() } },
      ],
      ['its end is waited for', { outcome: { is: 'running' } }, { follow: note() }],
      ['what came whole stays, though nobody has recorded it', { outcome: WHOLE }, RELEASE],
      ['what was taken by half is removed', { outcome: { is: 'absent' } }, named({ attempt: 2 })],
      [
        'so it is after a failure',
        { outcome: { is: 'failed', message: 'io' } },
        named({ attempt: 2 }),
      ],
      ['and a refusal', { outcome: { is: 'refused', message: 'mounted' } }, named({ attempt: 2 })],
      [
        'a node that is away is waited for',
        { outcome: { is: 'unknown', message: 'away' } },
        fail('waiting for a node: away', 'SnapshotNodeAwaited', { retry: true }),
      ],
      ['the removal is submitted', { content: half }, REMOVE],
      [
        'its end is waited for, too',
        { content: half, outcome: { is: 'running' } },
        { follow: note({ do: 'delete', attempt: 2 }) },
      ],
      ['nothing is left then', { content: half, outcome: { is: 'absent' } }, RELEASE],
      ['whatever is whole is never removed', { content: half, outcome: WHOLE }, RELEASE],
      [
        'what is recorded stays, whatever became of the job',
        { content: retained(note(), { status: taken }) },
        RELEASE,
      ],
      [
        'and what somebody else named',
        { content: retained(note(), { spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
        RELEASE,
      ],
      [
        'the copy of another content, of which it is a copy, is not looked at',
        { content: retained(note(), { metadata: { uid: UID } }) },
        RELEASE,
      ],
      [
        'whoever forgets the node lets go of it',
        {
          content: retained(note(), {
            metadata: {
              annotations: {
                ...content({ note: note() }).metadata.annotations,
                'stowage.dev/forget-node': CONTENT_UID,
              },
            },
          }),
        },
        RELEASE,
      ],
    ])('%s', (_, fields, expected) => {
      expect(decide({ content: retained(), ...gone, ...fields })).toEqual(expected);
    });

    test('releases the content if its node is off', () => {
      const off = { n1: { ready: false, off: true } };
      expect(decide({ content: retained(), ...gone }, off)).toEqual(RELEASE);
      expect(decide({ content: half, ...gone }, off)).toEqual(RELEASE);
      expect(decide({ content: retained(), ...gone }, { n1: { ready: false } })).not.toEqual(
        RELEASE,
      );
    });
  });

  test('keeps the job on its node unless the node is off', () => {
    const nodes = ['n1', 'n2'];
    const handle: SnapshotHandle = { type: 'file', path: PATH, nodes };
    const was = note({ do: 'delete', handle });
    const fields = {
      content: withNote(was, { ...taken, snapshotHandle: `file:n1,n2:${PATH}` }),
      ...gone,
    };
    expect(decide(fields, { n1: { ready: false } })).toEqual({
      action: { do: 'delete', note: was },
    });
    expect(decide(fields, { n1: { ready: false, off: true } })).toEqual(
      named({ handle, node: 'n2', attempt: 2, tries: 2 }),
    );
  });
});
