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
import { at, decide, deleting, of, reports, WHOLE } from './content-decisions.ts';

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
    reports('SnapshotDeleteError', why, code, more);
  const hold = (message: string, code: ReasonCode) => ({
    action: {
      do: 'emit-event',
      event: { type: 'Warning', reason: 'SnapshotDeletePending', message, ...of(code) },
    },
  });
  const named = (fields = {}) => ({
    action: { do: 'write-note', note: note({ do: 'delete', ...fields }) },
  });

  test.each<[string, Partial<ContentInput>, object]>([
    [
      'is left alone without the finalizer of Stowage',
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
    [
      'begins when its snapshot is deleted',
      { snapshot: snapshot({ metadata: deleting }) },
      named(),
    ],
    [
      'waits for a restore from it',
      { restores: [restore()] },
      hold('Volume restored is being provisioned from the content', 'ContentBeingRestored'),
    ],
    [
      'leaves the copy with the policy Retain',
      { content: going({ spec: { deletionPolicy: 'Retain' } }) },
      RELEASE,
    ],
    ['releases it if nothing was taken', { content: going({ status: {} }) }, RELEASE],
    ['releases it if another content has the copy', { isOfAnother: () => true }, RELEASE],
    [
      'releases it if its handle is invalid',
      {
        content: going({ status: {}, spec: { source: { snapshotHandle: 'file:n1:/etc/shadow' } } }),
      },
      RELEASE,
    ],
    [
      'removes a pre-provisioned copy',
      { content: going({ status: {}, spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
      named(),
    ],
    ['records a job first', {}, named()],
    ['then submits it', { content: withNote() }, { action: { do: 'delete', note: removal } }],
    [
      'waits while the job runs',
      { content: withNote(), outcome: { is: 'running' } },
      { watch: removal },
    ],
    ['is done when the copy is gone', { content: withNote(), outcome: { is: 'absent' } }, RELEASE],
    [
      'removes a copy that was taken but not recorded',
      { content: withNote(note(), {}), outcome: WHOLE },
      named({ attempt: 2 }),
    ],
    [
      'reports a failed job',
      { content: withNote(), outcome: { is: 'failed', message: 'io' } },
      fail('Failed to delete snapshot: io'),
    ],
    [
      'reports a node that does not answer',
      { content: withNote(), outcome: { is: 'unknown', message: 'away' } },
      fail('waiting for a node: away', 'SnapshotNodeAwaited', { retry: true }),
    ],
    [
      'reports a refusal',
      { content: withNote(), outcome: { is: 'refused', message: 'held' } },
      fail('Failed to delete snapshot: held', undefined, { retry: true }),
    ],
    [
      'waits longer each time',
      { content: withNote(note({ do: 'delete', attempt: 9, tries: 2, at: NOW - 400 })) },
      { requeueAfter: 600 },
    ],
    [
      'reports a copy that still exists',
      { content: withNote(), outcome: WHOLE },
      fail('Failed to delete snapshot: the copy still exists', 'SnapshotCopyStays'),
    ],
    ['proceeds without Volume and snapshot', gone, named()],
    [
      'proceeds if the Volume was deleted before the copy was recorded',
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
    const unknown = { is: 'unknown', message: 'no such host. Check it.' } as const;
    expect(decide({ content: going(), ...gone, outcome: unknown }, away)).toEqual(
      fail(
        `waiting for a node: Node n1 does not exist: no such host. Check it. To leave the copy there: kubectl annotate volumesnapshotcontent ${name} stowage.dev/forget-node=${CONTENT_UID}`,
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
    const look = { action: { do: 'observe', node: 'n1', handle: HANDLE, note: taking } };
    expect(decide(fields)).toEqual(look);
    expect(decide({ ...fields, outcome: { is: 'running' } })).toEqual({ watch: taking });
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
        'a job that may still run is observed',
        {},
        { action: { do: 'observe', node: 'n1', handle: HANDLE, note: note() } },
      ],
      ['a running job is awaited', { outcome: { is: 'running' } }, { watch: note() }],
      ['an unrecorded whole copy stays', { outcome: WHOLE }, RELEASE],
      ['a partial copy is removed', { outcome: { is: 'absent' } }, named({ attempt: 2 })],
      [
        'a partial copy is removed after a failure',
        { outcome: { is: 'failed', message: 'io' } },
        named({ attempt: 2 }),
      ],
      [
        'a partial copy is removed after a refusal',
        { outcome: { is: 'refused', message: 'mounted' } },
        named({ attempt: 2 }),
      ],
      [
        'a node that does not answer is awaited',
        { outcome: { is: 'unknown', message: 'away' } },
        fail('waiting for a node: away', 'SnapshotNodeAwaited', { retry: true }),
      ],
      ['the removal is submitted', { content: half }, REMOVE],
      [
        'a running removal is awaited',
        { content: half, outcome: { is: 'running' } },
        { watch: note({ do: 'delete', attempt: 2 }) },
      ],
      ['the content is released', { content: half, outcome: { is: 'absent' } }, RELEASE],
      ['a whole copy is never removed', { content: half, outcome: WHOLE }, RELEASE],
      [
        'a recorded copy stays after any job',
        { content: retained(note(), { status: taken }) },
        RELEASE,
      ],
      [
        'a pre-provisioned copy stays',
        { content: retained(note(), { spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
        RELEASE,
      ],
      [
        'a duplicated content ignores the copy of the original',
        { content: retained(note(), { metadata: { uid: UID } }) },
        RELEASE,
      ],
      [
        'forget-node releases the content',
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
