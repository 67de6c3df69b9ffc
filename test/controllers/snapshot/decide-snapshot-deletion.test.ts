import { expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { decideSnapshot } from '../../../src/controllers/snapshot/decide-snapshot.ts';
import type { SnapshotInput } from '../../../src/controllers/snapshot/types.ts';
import {
  AS_SOURCE,
  BOUND,
  CONTENT,
  content,
  DELETED,
  restore,
  snapshot,
  snapshotInput,
} from '../../support/snapshot-objects.ts';
import { NOW } from '../../support/volume-input.ts';

const going = (finalizers: string[] = [BOUND], status = {}) =>
  snapshot({ metadata: { deletionTimestamp: DELETED, finalizers }, status });
const of = (found: ReturnType<typeof content> | undefined) => ({ liveContent: { found } });
const retained = content({ spec: { deletionPolicy: 'Retain' } });
const goingContent = (error?: string) =>
  content({
    metadata: { deletionTimestamp: DELETED },
    status: error === undefined ? {} : { error: { message: error, time: 't' } },
  });
const release = (...finalizers: string[]) => ({
  action: { do: 'take-off-finalizers', finalizers },
});
const PENDING = 'Snapshot is being used to restore Volume restored';

test.each<[string, Partial<SnapshotInput>, object]>([
  [
    'the API server is asked for the content',
    {},
    { action: { do: 'read-content', name: CONTENT } },
  ],
  [
    'with the policy Delete the content goes first',
    of(content()),
    { action: { do: 'delete-content', content: content() } },
  ],
  ['it waits for that', of(goingContent()), {}],
  [
    'and says why that takes time',
    of(goingContent('waiting for a node: n1')),
    {
      action: {
        do: 'set-status',
        fields: { error: { message: 'waiting for a node: n1', time: 't' } },
      },
    },
  ],
  ['it is let go of when the content is gone', of(undefined), release(BOUND)],
  ['with the policy Retain the content stays', of(retained), release(BOUND)],
  [
    'a content of an earlier snapshot of the name stays',
    of(
      content({
        spec: { volumeSnapshotRef: { namespace: 'apps', name: 'backup', uid: 'earlier' } },
      }),
    ),
    release(BOUND),
  ],
  [
    'one with a content of another driver is left alone',
    of(content({ spec: { driver: 'other.csi' } })),
    {},
  ],
  [
    'the error that it shows has no path of the node',
    of(goingContent('node n1: /srv/volumes/1.snapshot is in use')),
    {
      action: {
        do: 'set-status',
        fields: { error: { message: 'node n1: … is in use', time: 't' } },
      },
    },
  ],
  [
    'it waits for what is made from it, and says so',
    { ...of(content()), restores: [restore()] },
    {
      action: {
        do: 'set-status',
        fields: { error: { message: PENDING, time: new Date(NOW).toISOString() } },
        event: {
          ...{ type: 'Warning', reason: 'SnapshotDeletePending', message: PENDING },
          detail: reason('SnapshotBeingRestored', { volume: 'restored' }),
        },
      },
    },
  ],
  [
    'it says so once',
    {
      ...of(content()),
      restores: [restore()],
      snapshot: going([BOUND], { error: { message: PENDING } }),
    },
    {},
  ],
  [
    'also with the policy Retain',
    {
      ...of(retained),
      restores: [restore()],
      snapshot: going([BOUND], { error: { message: PENDING } }),
    },
    {},
  ],
  [
    'it is no source any more once nothing is made from it',
    { ...of(content()), snapshot: going([AS_SOURCE, BOUND]) },
    release(AS_SOURCE),
  ],
  [
    'one that is held as a source alone keeps that until its content is gone',
    { ...of(content()), snapshot: going([AS_SOURCE]) },
    { action: { do: 'delete-content', content: content() } },
  ],
  [
    'whoever protected it and does not use it holds it no longer',
    { ...of(undefined), snapshot: going([AS_SOURCE, BOUND]) },
    release(AS_SOURCE, BOUND),
  ],
  ['one that is not held is gone', { snapshot: going(['x']) }, {}],
])('deleting a snapshot: %s', (_, fields, expected) => {
  expect(decideSnapshot(snapshotInput({ snapshot: going(), ...fields }), NOW)).toEqual(expected);
});
