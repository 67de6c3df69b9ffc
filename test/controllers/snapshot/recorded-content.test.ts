import { describe, expect, test } from '@jest/globals';
import type { ContentInput } from '../../../src/controllers/snapshot/types.ts';
import {
  CONTENT_UID,
  content,
  HANDLE,
  HANDLE_TEXT,
  note,
  PATH,
  volume,
} from '../../support/snapshot-objects.ts';
import { decide, deleting, RECORDED, reports, WHOLE } from './content-decisions.ts';

describe('a snapshot that was taken', () => {
  const LOOK = { action: { do: 'observe', node: 'n1', handle: HANDLE, note: undefined } };
  const byHand = {
    source: { snapshotHandle: HANDLE_TEXT },
    volumeSnapshotRef: { namespace: 'apps', name: 'backup' },
  };
  const asked = content({ spec: byHand });
  const rest = content({ status: { snapshotHandle: HANDLE_TEXT, readyToUse: true } });
  const missing = reports(
    'SnapshotContentCheckandUpdateFailed',
    `copy ${HANDLE_TEXT} is missing on node n1, and is not taken again. Bring the copy back, or delete the VolumeSnapshot`,
    'SnapshotCopyMissing',
    { retry: true },
  );

  test.each<[string, Partial<ContentInput>, object]>([
    ['rests when it is ready', { content: rest }, {}],
    [
      'rests when its Volume and VolumeSnapshot are gone',
      { content: rest, volume: undefined, snapshot: undefined, snapshotClass: undefined },
      {},
    ],
    [
      'is observed while it is not ready',
      { content: content({ status: { snapshotHandle: HANDLE_TEXT } }) },
      LOOK,
    ],
    [
      'is not taken again if it is missing',
      { content: content({ status: { snapshotHandle: HANDLE_TEXT } }), outcome: { is: 'absent' } },
      missing,
    ],
    ['is observed if it is pre-provisioned', { content: asked }, LOOK],
    [
      'is recorded if the pre-provisioned copy exists',
      { content: asked, outcome: WHOLE },
      RECORDED,
    ],
    [
      'is reported if the pre-provisioned copy is missing',
      { content: asked, outcome: { is: 'absent' } },
      missing,
    ],
    [
      'waits for the node of a pre-provisioned copy, with an event',
      { content: asked, outcome: { is: 'unknown', message: 'away' } },
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'waiting for a node: away',
        'SnapshotNodeAwaited',
        {
          retry: true,
        },
      ),
    ],
    [
      'is refused if its handle names another file',
      {
        content: content({
          spec: { ...byHand, source: { snapshotHandle: 'file:n1:/etc/shadow' } },
        }),
      },
      reports(
        'SnapshotContentCheckandUpdateFailed',
        'snapshot handle "file:n1:/etc/shadow": the path must end in /snapshots/UID',
        'ContentHandleInvalid',
      ),
    ],
    [
      'keeps its creation time',
      {
        content: content({
          status: { snapshotHandle: HANDLE_TEXT, creationTime: 5, readyToUse: false },
        }),
        outcome: WHOLE,
      },
      { action: { do: 'set-status', fields: { restoreSize: 2 ** 30, readyToUse: true } } },
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  test('is observed on a node that is reachable', () => {
    const nodes = ['n1', 'n2', 'n3'];
    const fields = {
      content: content({
        spec: { ...byHand, source: { snapshotHandle: `file:n1,n2,n3:${PATH}` } },
      }),
      volume: undefined,
      place: undefined,
    };
    const look = (node: string) => ({
      action: { do: 'observe', node, handle: { ...HANDLE, nodes }, note: undefined },
    });
    expect(decide(fields)).toEqual(look('n1'));
    expect(decide(fields, { n1: { ready: false } })).toEqual(look('n2'));
    expect(
      decide(fields, {
        n1: { exists: false, ready: false },
        n2: { ready: false },
        n3: { ready: false },
      }),
    ).toEqual(look('n2'));
    expect(decide({ ...fields, volume: volume(), place: { node: 'n3', handle: HANDLE } })).toEqual(
      look('n3'),
    );
  });
});

describe('a removed job record', () => {
  const labels = { 'stowage.dev/snapshot-attempt': '3' };
  const again = { action: { do: 'write-note', note: note({ attempt: 3, tries: 1 }) } };
  const gone = `Volume data1 is gone. If nobody needs the copy, leave it on its node: kubectl annotate volumesnapshotcontent ${content().metadata.name} stowage.dev/forget-node=${CONTENT_UID}`;
  const where = 'the annotation that locates the copy was removed, and';
  const lost = reports(
    'SnapshotContentCheckandUpdateFailed',
    `${where} ${gone}`,
    'ContentNoteLost',
  );

  const going = (parts: Parameters<typeof content>[0] = {}) =>
    content({ ...parts, metadata: { labels, ...deleting, ...parts.metadata } });
  const RELEASE = { action: { do: 'release' } };
  const recorded = { status: { snapshotHandle: HANDLE_TEXT, readyToUse: true } };
  const noSnapshot = { snapshot: undefined };
  const noVolume = { ...noSnapshot, volume: undefined, place: undefined };
  const forgotten = { annotations: { 'stowage.dev/forget-node': CONTENT_UID } };
  const retained = { spec: { deletionPolicy: 'Retain' } } as const;

  test.each<[string, Partial<ContentInput>, object]>([
    ['is written again', { content: content({ metadata: { labels } }) }, again],
    ['is written again before its content is deleted', { content: going(), ...noSnapshot }, again],
    [
      'is not needed with the policy Retain if the copy is recorded',
      { content: going({ ...retained, ...recorded }), ...noVolume },
      RELEASE,
    ],
    [
      'is written again if the copy may be partial',
      { content: going(retained), ...noSnapshot },
      again,
    ],
    [
      'is written from the recorded copy if the Volume is gone',
      { content: going(recorded), ...noVolume },
      { action: { do: 'write-note', note: note({ attempt: 3, tries: 1, volume: CONTENT_UID }) } },
    ],
    [
      'blocks the release if nothing else locates the copy',
      { content: going(), ...noVolume },
      lost,
    ],
    [
      'does not block the release with forget-node',
      { content: going({ metadata: forgotten }), ...noVolume },
      RELEASE,
    ],
    [
      'is not assumed if the record exists',
      { content: going({ note: note() }), ...noSnapshot, outcome: WHOLE },
      { action: { do: 'write-note', note: note({ do: 'delete', attempt: 2 }) } },
    ],
  ])('%s', (_, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  test('is left to the process that manages the node', () => {
    expect(decide({ content: content({ metadata: { labels } }) }, { n1: { ours: false } })).toEqual(
      {},
    );
  });
});
