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
    'the content is read from the API server',
    {},
    { action: { do: 'read-content', name: CONTENT } },
  ],
  [
    'the policy Delete deletes the content first',
    of(content()),
    { action: { do: 'delete-content', content: content() } },
  ],
  ['the snapshot waits for its content', of(goingContent()), {}],
  [
    'the error of the content is shown',
    of(goingContent('waiting for a node: n1')),
    {
      action: {
        do: 'set-status',
        fields: { error: { message: 'waiting for a node: n1', time: 't' } },
      },
    },
  ],
  ['the finalizer is removed when the content is gone', of(undefined), release(BOUND)],
  ['the policy Retain keeps the content', of(retained), release(BOUND)],
  [
    'a content of an earlier snapshot stays',
    of(
      content({
        spec: { volumeSnapshotRef: { namespace: 'apps', name: 'backup', uid: 'earlier' } },
      }),
    ),
    release(BOUND),
  ],
  ['a content of another driver is left alone', of(content({ spec: { driver: 'other.csi' } })), {}],
  [
    'the shown error has no path of the node',
    of(goingContent('node n1: /srv/volumes/1.snapshot is in use')),
    {
      action: {
        do: 'set-status',
        fields: { error: { message: 'node n1: … is in use', time: 't' } },
      },
    },
  ],
  [
    'a running restore delays it, with an event',
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
    'a running restore is reported once',
    {
      ...of(content()),
      restores: [restore()],
      snapshot: going([BOUND], { error: { message: PENDING } }),
    },
    {},
  ],
  [
    'a running restore delays it with the policy Retain, too',
    {
      ...of(retained),
      restores: [restore()],
      snapshot: going([BOUND], { error: { message: PENDING } }),
    },
    {},
  ],
  [
    'the source finalizer is removed after the last restore',
    { ...of(content()), snapshot: going([AS_SOURCE, BOUND]) },
    release(AS_SOURCE),
  ],
  [
    'the source finalizer alone stays until the content is gone',
    { ...of(content()), snapshot: going([AS_SOURCE]) },
    { action: { do: 'delete-content', content: content() } },
  ],
  [
    'both finalizers are removed without a content',
    { ...of(undefined), snapshot: going([AS_SOURCE, BOUND]) },
    release(AS_SOURCE, BOUND),
  ],
  ['a snapshot without finalizers of Stowage is left alone', { snapshot: going(['x']) }, {}],
])('deleting a snapshot: %s', (_, fields, expected) => {
  expect(decideSnapshot(snapshotInput({ snapshot: going(), ...fields }), NOW)).toEqual(expected);
});
