import { describe, expect, test } from '@jest/globals';
import type { SnapshotHandle } from '../../../src/api/snapshot-handle.ts';
import { decideContent } from '../../../src/provisioning/snapshots/decide-content.ts';
import type { ContentInput, NodeFacts } from '../../../src/provisioning/snapshots/types.ts';
import {
  CONTENT_UID,
  content,
  contentInput,
  DELETED,
  HANDLE,
  HANDLE_TEXT,
  note,
  PATH,
  restore,
  SNAPSHOT_UID,
  snapshot,
  snapshotClass,
  volume,
} from '../../support/snapshot-objects.ts';
import { NOW, UID } from '../../support/volume-input.ts';

const decide = (fields: Partial<ContentInput>, nodes?: Record<string, Partial<NodeFacts>>) =>
  decideContent(contentInput(fields, nodes), NOW);
const at = new Date(NOW).toISOString();
const said = (reason: string, message: string, more = {}) => ({
  action: {
    do: 'set-status',
    fields: { readyToUse: false, error: { message, time: at } },
    event: { type: 'Warning', reason, message },
  },
  ...more,
});
const WHOLE = { is: 'whole', sizeBytes: 2 ** 30, takenAt: NOW - 2000 } as const;
const RECORDED = {
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
const FREEZE = { seconds: 10, copy: false };
const deleting = { deletionTimestamp: DELETED };

describe('taking a snapshot', () => {
  const fail = (why: string, more = {}) =>
    said('SnapshotCreationFailed', `Failed to create snapshot: ${why}`, more);
  const named = (fields = {}) => ({ action: { do: 'write-note', note: note(fields) } });
  const failing = (message: string, parts = {}) =>
    content({
      status: { readyToUse: false, error: { message: `Failed to create snapshot: ${message}`, time: at } },
      ...parts,
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
      said('SnapshotContentCheckandUpdateFailed', 'it must have one of volumeHandle and snapshotHandle'),
    ],
    [
      'a content with two',
      { content: content({ spec: { source: { volumeHandle: 'data1', snapshotHandle: HANDLE_TEXT } } }) },
      said('SnapshotContentCheckandUpdateFailed', 'it must have one of volumeHandle and snapshotHandle'),
    ],
    ['the job is named first', {}, named()],
    [
      'and then submitted',
      { content: content({ note: note() }) },
      { action: { do: 'take', note: note(), freeze: FREEZE } },
    ],
    [
      'with what the class allows',
      {
        content: content({ note: note() }),
        snapshotClass: snapshotClass('fast', { parameters: { frozenCopySeconds: '60' } }),
      },
      { action: { do: 'take', note: note(), freeze: { seconds: 60, copy: true } } },
    ],
    [
      'a class that is gone allows no frozen copy',
      { content: content({ note: note() }), snapshotClass: undefined },
      { action: { do: 'take', note: note(), freeze: FREEZE } },
    ],
    [
      'while it runs, its end is waited for',
      { content: content({ note: note() }), outcome: { is: 'running' } },
      { follow: note() },
    ],
    ['the copy is recorded', { content: content({ note: note() }), outcome: WHOLE }, RECORDED],
    [
      'a job that failed is told',
      { content: content({ note: note() }), outcome: { is: 'failed', message: 'no room' } },
      fail('no room'),
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
      { action: { do: 'take', note: note({ attempt: 3, tries: 3, at: NOW - 2000 }), freeze: FREEZE } },
    ],
    [
      'what was refused is asked again later',
      { content: content({ note: note() }), outcome: { is: 'refused', message: 'mounted' } },
      fail('mounted', { retry: true }),
    ],
    [
      'and told once',
      { content: failing('mounted', { note: note() }), outcome: { is: 'refused', message: 'mounted' } },
      { retry: true },
    ],
    [
      'a node that is away is told',
      { content: content({ note: note() }), outcome: { is: 'unknown', message: 'node n1: away' } },
      said('SnapshotContentCheckandUpdateFailed', 'waits for a node: node n1: away', { retry: true }),
    ],
    [
      'whatever else it says of that soon after is not',
      {
        content: content({
          note: note(),
          status: { readyToUse: false, error: { message: 'waits for a node: x', time: at } },
        }),
        outcome: { is: 'unknown', message: 'node n1: away' },
      },
      { retry: true },
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  test.each<[string, Partial<ContentInput>, string, Record<string, Partial<NodeFacts>>?]>([
    [
      'no Volume',
      { volume: undefined, place: undefined },
      'there is no Volume data1, or it is not the one that the snapshot is of',
    ],
    ['a Volume that goes', { volume: volume(deleting) }, 'Volume data1 is being deleted'],
    ['a Volume that is not made', { volume: { ...volume(), status: {} } }, 'Volume data1 is not made yet'],
    [
      'a wrong class',
      { snapshotClass: snapshotClass('fast', { parameters: { frozen: '1' } }) },
      'VolumeSnapshotClass fast: there is no parameter "frozen"; there is: frozenCopySeconds',
    ],
    [
      'a kind of which there are none',
      { place: { problem: 'Volume data1 is a raw device' } },
      'Volume data1 is a raw device',
    ],
    ['a paused Node', {}, 'Node n1 is paused', { n1: { paused: true } }],
    [
      'a paused Volume',
      { volume: volume({ annotations: { 'stowage.dev/paused': '' } }) },
      'Volume data1 is paused',
    ],
    [
      'a pause of its own',
      { content: content({ metadata: { annotations: { 'stowage.dev/paused': '' } } }) },
      `the VolumeSnapshotContent snapcontent-${SNAPSHOT_UID} is paused`,
    ],
  ])('waits for %s', (...[, fields, why, nodes]) => {
    expect(decide(fields, nodes)).toEqual(fail(why));
    const { metadata } = fields.content ?? content();
    const told = failing(why, { metadata });
    expect(decide({ ...fields, content: told }, nodes)).toEqual({});
    if (fields.content !== undefined) return;
    // Where a job was named already, it may have done its work before.
    const was = { ...fields, content: content({ note: note() }) };
    expect(decide(was, nodes)).toEqual({ action: { do: 'look', node: 'n1', handle: HANDLE, note: note() } });
    expect(decide({ ...was, outcome: WHOLE }, nodes)).toEqual(RECORDED);
    expect(decide({ ...was, outcome: { is: 'absent' } }, nodes)).toEqual(fail(why));
  });

  test.each<[string, Partial<ContentInput>, object]>([
    ['is looked up once more', {}, { action: { do: 'read-snapshot' } }],
    ['lets nothing be taken', { liveSnapshot: { found: undefined } }, { action: { do: 'delete-content' } }],
    ['that is there, after all, is taken', { liveSnapshot: { found: snapshot() } }, named()],
    [
      'of a content made by hand may yet come',
      { content: content({ metadata: { name: 'by-hand' } }), liveSnapshot: { found: undefined } },
      fail('there is no VolumeSnapshot apps/backup'),
    ],
    [
      'is looked up once more, also when something may have been taken',
      { content: content({ note: note() }) },
      { action: { do: 'read-snapshot' } },
    ],
    [
      'takes with it what may have been taken',
      { content: content({ note: note() }), liveSnapshot: { found: undefined }, outcome: WHOLE },
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

  test('a node that is off is left for another one that reaches the same files', () => {
    const shared: SnapshotHandle = { type: 'file', path: PATH, nodes: ['n1', 'n2'] };
    const fields = {
      content: content({ note: note({ handle: shared }) }),
      place: { node: 'n2', handle: shared },
    };
    expect(decide(fields, { n1: { off: true, ready: false } })).toEqual({
      action: { do: 'write-note', note: note({ node: 'n2', handle: shared, attempt: 2, tries: 2 }) },
    });
    expect(decide(fields, { n1: { ready: false } })).toEqual({
      action: { do: 'take', note: note({ handle: shared }), freeze: FREEZE },
    });
  });

  test('a node that is away is told at once after something else was', () => {
    const was = { message: 'Failed to create snapshot: no room', time: at };
    const fields = { content: content({ note: note(), status: { readyToUse: false, error: was } }) };
    expect(decide({ ...fields, outcome: { is: 'unknown', message: 'away' } })).toEqual(
      said('SnapshotContentCheckandUpdateFailed', 'waits for a node: away', { retry: true }),
    );
  });

  test('nodes of others are left to them', () => {
    const theirs = { n1: { ours: false } };
    expect(decide({}, theirs)).toEqual({});
    expect(decide({ content: content({ note: note() }) }, theirs)).toEqual({});
    expect(decide({ content: content({ status: { snapshotHandle: HANDLE_TEXT } }) }, theirs)).toEqual({});
  });
});

describe('what was taken', () => {
  const LOOK = { action: { do: 'look', node: 'n1', handle: HANDLE, note: undefined } };
  const byHand = {
    source: { snapshotHandle: HANDLE_TEXT },
    volumeSnapshotRef: { namespace: 'apps', name: 'backup' },
  };
  const asked = content({ spec: byHand });
  const rest = content({ status: { snapshotHandle: HANDLE_TEXT, readyToUse: true } });
  const missing = said(
    'SnapshotContentCheckandUpdateFailed',
    `its copy ${HANDLE_TEXT} is missing on node n1. Nothing is taken in its place`,
    { retry: true },
  );

  test.each<[string, Partial<ContentInput>, object]>([
    ['rests when it is ready', { content: rest }, {}],
    [
      'also when all else is gone',
      { content: rest, volume: undefined, snapshot: undefined, snapshotClass: undefined },
      {},
    ],
    ['is looked at while it is not', { content: content({ status: { snapshotHandle: HANDLE_TEXT } }) }, LOOK],
    [
      'and is not taken anew where it is missing',
      { content: content({ status: { snapshotHandle: HANDLE_TEXT } }), outcome: { is: 'absent' } },
      missing,
    ],
    ['somebody else’s is looked at', { content: asked }, LOOK],
    ['and then ready', { content: asked, outcome: WHOLE }, RECORDED],
    ['or missing', { content: asked, outcome: { is: 'absent' } }, missing],
    [
      'or waits for its node, and says so',
      { content: asked, outcome: { is: 'unknown', message: 'away' } },
      said('SnapshotContentCheckandUpdateFailed', 'waits for a node: away', { retry: true }),
    ],
    [
      'a handle that names something else is refused',
      { content: content({ spec: { ...byHand, source: { snapshotHandle: 'file:n1:/etc/shadow' } } }) },
      said(
        'SnapshotContentCheckandUpdateFailed',
        'its handle "file:n1:/etc/shadow": the path must end in /snapshots/UID',
      ),
    ],
    [
      'keeps the time when it was taken',
      {
        content: content({ status: { snapshotHandle: HANDLE_TEXT, creationTime: 5, readyToUse: false } }),
        outcome: WHOLE,
      },
      { action: { do: 'set-status', fields: { restoreSize: 2 ** 30, readyToUse: true } } },
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  test('is looked at where it can be reached', () => {
    const nodes = ['n1', 'n2', 'n3'];
    const fields = {
      content: content({ spec: { ...byHand, source: { snapshotHandle: `file:n1,n2,n3:${PATH}` } } }),
      volume: undefined,
      place: undefined,
    };
    const look = (node: string) => ({
      action: { do: 'look', node, handle: { ...HANDLE, nodes }, note: undefined },
    });
    expect(decide(fields)).toEqual(look('n1'));
    expect(decide(fields, { n1: { ready: false } })).toEqual(look('n2'));
    expect(
      decide(fields, { n1: { exists: false, ready: false }, n2: { ready: false }, n3: { ready: false } }),
    ).toEqual(look('n2'));
    expect(decide({ ...fields, volume: volume(), place: { node: 'n3', handle: HANDLE } })).toEqual(
      look('n3'),
    );
  });
});

describe('deleting', () => {
  const RELEASE = { action: { do: 'release' } };
  const taken = { snapshotHandle: HANDLE_TEXT, readyToUse: true };
  const going = (parts: Parameters<typeof content>[0] = {}) =>
    content({ status: taken, ...parts, metadata: { ...parts.metadata, ...deleting } });
  const removal = note({ do: 'delete' });
  const withNote = (which = removal, status: object = taken) => {
    const { annotations = {} } = content({ note: which }).metadata;
    return content({ status, metadata: { ...deleting, annotations } });
  };
  const gone = { snapshot: undefined, volume: undefined, place: undefined, snapshotClass: undefined };
  const fail = (why: string, more = {}) => said('SnapshotDeleteError', why, more);
  const hold = (message: string) => ({
    action: { do: 'tell', event: { type: 'Warning', reason: 'SnapshotDeletePending', message } },
  });
  const named = (fields = {}) => ({ action: { do: 'write-note', note: note({ do: 'delete', ...fields }) } });

  test.each<[string, Partial<ContentInput>, object]>([
    ['is not ours to hold', { content: content({ metadata: { ...deleting, finalizers: ['x'] } }) }, {}],
    [
      'waits for its snapshot',
      { snapshot: snapshot() },
      hold('VolumeSnapshot apps/backup still has it: delete that'),
    ],
    ['goes with its snapshot', { snapshot: snapshot({ metadata: deleting }) }, named()],
    [
      'waits for what is made from it',
      { restores: [restore()] },
      hold('Volume restored is being made from it'),
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
      { content: going({ status: {}, spec: { source: { snapshotHandle: 'file:n1:/etc/shadow' } } }) },
      RELEASE,
    ],
    [
      'with a copy that somebody else named',
      { content: going({ status: {}, spec: { source: { snapshotHandle: HANDLE_TEXT } } }) },
      named(),
    ],
    ['names a job first', {}, named()],
    ['then submits it', { content: withNote() }, { action: { do: 'delete', note: removal } }],
    ['waits while it runs', { content: withNote(), outcome: { is: 'running' } }, { follow: removal }],
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
      fail('waits for a node: away', { retry: true }),
    ],
    [
      'tells what is refused',
      { content: withNote(), outcome: { is: 'refused', message: 'held' } },
      fail('Failed to delete snapshot: held', { retry: true }),
    ],
    [
      'waits longer each time',
      { content: withNote(note({ do: 'delete', attempt: 9, tries: 2, at: NOW - 400 })) },
      { requeueAfter: 600 },
    ],
    ['of which all else is gone', gone, named()],
    [
      'of which the Volume went before it was recorded',
      { ...gone, content: withNote(note(), {}), outcome: { is: 'absent' } },
      named({ attempt: 2 }),
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide({ content: going(), snapshot: undefined, ...fields })).toEqual(
      // The subject of all work is the Volume, whose UID only it and the note know.
      'volume' in fields && fields.content === undefined ? named({ volume: CONTENT_UID }) : expected,
    );
  });

  test('a job that failed is named anew once that was told', () => {
    const failed = { message: 'Failed to delete snapshot: io', time: at };
    const told = withNote(removal, { ...taken, readyToUse: false, error: failed });
    expect(decide({ content: told, snapshot: undefined, outcome: { is: 'failed', message: 'io' } })).toEqual(
      named({ attempt: 2, tries: 2 }),
    );
  });

  test('a node that is gone keeps it, until somebody forgets the node', () => {
    const away = { n1: { exists: false, ready: false } };
    const name = content().metadata.name;
    const unknown = { is: 'unknown', message: 'no such host' } as const;
    expect(decide({ content: going(), ...gone, outcome: unknown }, away)).toEqual(
      fail(
        `waits for a node: there is no Node n1: no such host. To let go of the copy there: kubectl annotate volumesnapshotcontent ${name} stowage.dev/forget-node=${CONTENT_UID}`,
        { retry: true },
      ),
    );
    const forget = (uid: string) => going({ metadata: { annotations: { 'stowage.dev/forget-node': uid } } });
    expect(decide({ content: forget(CONTENT_UID), ...gone }, away)).toEqual(RELEASE);
    expect(decide({ content: forget(UID), ...gone }, away)).not.toEqual(RELEASE);
  });

  test.each([
    ['Node n1', going(), { n1: { paused: true } }],
    ['the VolumeSnapshotContent', going({ metadata: { annotations: { 'stowage.dev/paused': '' } } }), {}],
  ])('a pause of %s holds it', (what, paused, nodes) => {
    expect(decide({ content: paused, snapshot: undefined }, nodes)).toEqual(
      fail(`${what} is paused; the deletion waits`),
    );
  });

  test('a job that takes it still is waited for, unless its node is off', () => {
    const taking = note();
    const fields = { content: withNote(taking, {}), snapshot: undefined };
    const look = { action: { do: 'look', node: 'n1', handle: HANDLE, note: taking } };
    expect(decide(fields)).toEqual(look);
    expect(decide({ ...fields, outcome: { is: 'running' } })).toEqual({ follow: taking });
    const away: ContentInput['outcome'] = { is: 'unknown', message: 'no such host' };
    expect(decide({ ...fields, outcome: away })).toEqual(
      fail('waits for a node: no such host', { retry: true }),
    );
    expect(decide(fields, { n1: { off: true } })).toEqual(named({ attempt: 2 }));
    expect(decide(fields, { n1: { ours: false } })).toEqual({});
    // A pause is for what writes.
    expect(decide(fields, { n1: { paused: true } })).toEqual(look);
    expect(decide({ ...fields, outcome: WHOLE }, { n1: { paused: true } })).toEqual(
      fail('Node n1 is paused; the deletion waits'),
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
      ['so it is after a failure', { outcome: { is: 'failed', message: 'io' } }, named({ attempt: 2 })],
      ['and a refusal', { outcome: { is: 'refused', message: 'mounted' } }, named({ attempt: 2 })],
      [
        'a node that is away is waited for',
        { outcome: { is: 'unknown', message: 'away' } },
        fail('waits for a node: away', { retry: true }),
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

    test('a machine that is off lets go of it', () => {
      const off = { n1: { ready: false, off: true } };
      expect(decide({ content: retained(), ...gone }, off)).toEqual(RELEASE);
      expect(decide({ content: half, ...gone }, off)).toEqual(RELEASE);
      expect(decide({ content: retained(), ...gone }, { n1: { ready: false } })).not.toEqual(RELEASE);
    });
  });

  test('a job stays on its node, unless that is off', () => {
    const nodes = ['n1', 'n2'];
    const handle: SnapshotHandle = { type: 'file', path: PATH, nodes };
    const was = note({ do: 'delete', handle });
    const fields = {
      content: withNote(was, { ...taken, snapshotHandle: `file:n1,n2:${PATH}` }),
      ...gone,
    };
    expect(decide(fields, { n1: { ready: false } })).toEqual({ action: { do: 'delete', note: was } });
    expect(decide(fields, { n1: { ready: false, off: true } })).toEqual(
      named({ handle, node: 'n2', attempt: 2, tries: 2 }),
    );
  });
});

describe('a note that somebody took away', () => {
  const labels = { 'stowage.dev/snapshot-attempt': '3' };
  const again = { action: { do: 'write-note', note: note({ attempt: 3, tries: 1 }) } };
  const gone = `Volume data1 is gone. To let go of the copy: kubectl annotate volumesnapshotcontent ${content().metadata.name} stowage.dev/forget-node=${CONTENT_UID}`;
  const where = 'somebody took away the annotation that says where its copy is, and';
  const lost = said('SnapshotContentCheckandUpdateFailed', `${where} ${gone}`);

  test.each<[string, Partial<ContentInput>, object]>([
    ['is written again', { content: content({ metadata: { labels } }) }, again],
    [
      'also before its content goes',
      { content: content({ metadata: { labels, ...deleting } }), snapshot: undefined },
      again,
    ],
    [
      'is not missed with the policy Retain, where what was taken is recorded',
      {
        content: content({
          metadata: { labels, ...deleting },
          spec: { deletionPolicy: 'Retain' },
          status: { snapshotHandle: HANDLE_TEXT, readyToUse: true },
        }),
        ...{ snapshot: undefined, volume: undefined, place: undefined },
      },
      { action: { do: 'release' } },
    ],
    [
      'and is otherwise, for it may be half taken',
      {
        content: content({ metadata: { labels, ...deleting }, spec: { deletionPolicy: 'Retain' } }),
        snapshot: undefined,
      },
      again,
    ],
    [
      'by what was recorded, where the Volume is gone',
      {
        content: content({
          metadata: { labels, ...deleting },
          status: { snapshotHandle: HANDLE_TEXT, readyToUse: true },
        }),
        ...{ snapshot: undefined, volume: undefined, place: undefined },
      },
      { action: { do: 'write-note', note: note({ attempt: 3, tries: 1, volume: CONTENT_UID }) } },
    ],
    [
      'and is known by nothing else: then nothing is let go of',
      {
        content: content({ metadata: { labels, ...deleting } }),
        ...{ snapshot: undefined, volume: undefined, place: undefined },
      },
      lost,
    ],
    [
      'unless somebody says so',
      {
        content: content({
          metadata: { labels, ...deleting, annotations: { 'stowage.dev/forget-node': CONTENT_UID } },
        }),
        ...{ snapshot: undefined, volume: undefined, place: undefined },
      },
      { action: { do: 'release' } },
    ],
    [
      'is not missed where it is there',
      {
        content: content({ metadata: { ...deleting, labels }, note: note() }),
        ...{ snapshot: undefined, outcome: WHOLE },
      },
      { action: { do: 'write-note', note: note({ do: 'delete', attempt: 2 }) } },
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  test('is left to whoever reaches the node', () => {
    expect(decide({ content: content({ metadata: { labels } }) }, { n1: { ours: false } })).toEqual({});
  });
});
