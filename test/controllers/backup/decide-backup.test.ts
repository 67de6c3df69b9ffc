import { describe, expect, test } from '@jest/globals';
import type { Backup } from '../../../src/api/builtins/backup.ts';
import { type ReasonCode, reason } from '../../../src/api/reasons.ts';
import { decideBackup } from '../../../src/controllers/backup/decide-backup.ts';
import type { BackupInput } from '../../../src/controllers/backup/types.ts';
import { backup, COPY, content, PATH, snapshot, UID } from './backup-objects.ts';

const NOW = Date.parse('2030-01-01T10:00:00Z');

const there = { exists: true, ready: true, off: false, paused: false, ours: true };
const decided = (change: Partial<BackupInput> = {}) =>
  decideBackup(
    {
      ...{ backup: backup(), snapshot: snapshot(), content: content(), hasSnapshots: true },
      ...{ nodeFacts: () => there, outcome: undefined, ...change },
    },
    NOW,
  );

const running: Backup['status'] = {
  ...{ phase: 'Running', node: 'n1', attempt: 1 },
  ...{ startedAt: '2030-01-01T09:59:55Z', volumeMode: 'Filesystem' },
};
const done: Backup['status'] = { ...running, phase: 'Completed', bytes: 9, sha256: 'a'.repeat(64) };
const paused = { annotations: { 'stowage.dev/paused': 'true' } };
const going = snapshot({ metadata: { ...snapshot().metadata, deletionTimestamp: 'now' } });
const none = { snapshot: undefined, content: undefined };
const handle = { type: 'file', nodes: ['n1'], path: PATH };
const job = { node: 'n1', attempt: 1 };

/** Returns a Backup with a recorded job. */
const inProgress = (
  change: Partial<BackupInput> = {},
  metadata: Partial<Backup['metadata']> = {},
): Partial<BackupInput> => ({ backup: backup({ status: running }, metadata), ...change });
const DELETING = { deletionTimestamp: 'now' };
const PAUSED = { code: 'BackupPaused' };
const LOGIN = { node: 'n1', said: 'no' };
const failed = (message: string, forGood: boolean) => ({ is: 'failed', message, forGood }) as const;

test.each<[string, Partial<BackupInput>, object]>([
  ['gets its finalizer first', { backup: backup({}, { finalizers: [] }) }, { do: 'add-finalizer' }],
  [
    'creates a snapshot of its claim',
    { snapshot: undefined },
    { do: 'create-snapshot', name: `backup-${UID}` },
  ],
  [
    'records its job before the job exists',
    {},
    {
      do: 'set-status',
      fields: {
        ...{ phase: 'Running', node: 'n1', attempt: 1, startedAt: '2030-01-01T10:00:00Z' },
        ...{ volumeMode: 'Filesystem', restoreSize: 1024 },
      },
    },
  ],
  ['runs its recorded job', inProgress(), { do: 'run', job, handle, mode: 'Filesystem' }],
  [
    'runs its job in mode Block for a device',
    inProgress({ content: content({ sourceVolumeMode: 'Block' }) }),
    { do: 'run', job, handle, mode: 'Block' },
  ],
  ['only observes its job while paused', inProgress({}, paused), { do: 'observe', job }],
  [
    'only observes its job while the node is paused',
    inProgress({ nodeFacts: () => ({ ...there, paused: true }) }),
    { do: 'observe', job },
  ],
  [
    'observes its job while its snapshot is deleted',
    inProgress({ snapshot: going }),
    { do: 'observe', job },
  ],
  [
    'observes its job after its snapshot is gone',
    {
      backup: backup({ snapshotName: 's', claimName: undefined as never, status: running }),
      ...none,
    },
    { do: 'observe', job },
  ],
  [
    'can complete without its snapshot',
    {
      backup: backup({ snapshotName: 's', claimName: undefined as never, status: running }),
      ...{ ...none, outcome: { is: 'made', bytes: 9, sha256: 'a'.repeat(64) } },
    },
    { do: 'set-status', fields: { phase: 'Completed' } },
  ],
  [
    'creates a snapshot again if its job is unknown',
    inProgress({ ...none, outcome: { is: 'none' } }),
    { do: 'create-snapshot' },
  ],
  [
    'is released if its node is forgotten',
    inProgress(
      { snapshot: undefined },
      { deletionTimestamp: 'now', annotations: { 'stowage.dev/forget-node': UID } },
    ),
    { do: 'release' },
  ],
  [
    'deletes its snapshot once completed',
    { backup: backup({ status: done }) },
    { do: 'delete-snapshot' },
  ],
  [
    'deletes its snapshot once failed',
    { backup: backup({ status: { ...running, phase: 'Failed' } }) },
    { do: 'delete-snapshot' },
  ],
  [
    'removes its data from the node first when deleted',
    inProgress({}, DELETING),
    { do: 'leave', job },
  ],
  [
    'then deletes its snapshot',
    inProgress({ outcome: { is: 'left' } }, DELETING),
    { do: 'delete-snapshot' },
  ],
  [
    'is released last',
    inProgress({ snapshot: undefined, outcome: { is: 'left' } }, DELETING),
    { do: 'release' },
  ],
  [
    'is released if its node no longer exists',
    inProgress({ snapshot: undefined, nodeFacts: () => ({ ...there, exists: false }) }, DELETING),
    { do: 'release' },
  ],
])('a backup %s', (_what, change, action) => {
  expect(decided(change).action).toMatchObject(action);
});

describe('a backup without a next action', () => {
  test.each<[string, Partial<BackupInput>]>([
    ['once completed', { backup: backup({ status: done }), snapshot: undefined }],
    [
      'once completed from an existing snapshot',
      { backup: backup({ snapshotName: 's', claimName: undefined as never, status: done }) },
    ],
    [
      'if a snapshot of another owner has its name',
      {
        backup: backup({ status: done }),
        snapshot: snapshot({ metadata: { name: `backup-${UID}`, namespace: 'prod', uid: 's' } }),
      },
    ],
    ['if another process manages its node', { nodeFacts: () => ({ ...there, ours: false }) }],
    [
      'if only a foreign finalizer holds it',
      { backup: backup({}, { finalizers: ['x'], deletionTimestamp: 'now' }) },
    ],
  ])('rests %s', (_what, change) => {
    expect(decided(change)).toEqual({});
  });

  test.each<[string, Partial<BackupInput>]>([
    ['', {}],
    [', even if its snapshot is deleted', { snapshot: going }],
    [', even if it is paused', inProgress({}, paused)],
  ])('rests while its job runs%s, and watches the job', (_what, change) => {
    const input = inProgress({ outcome: { is: 'running' }, ...change });
    expect(decided(input)).toEqual({ watch: job, requeueAfter: 10_000 });
  });

  test('reports once that its job waits for a slot, and clears that afterwards', () => {
    const waits = { message: 'no place', detail: reason('BackupForgotten') };
    const outcome = { is: 'running', waits } as const;
    const told = backup({ status: { ...running, message: 'no place' } });
    const watching = { watch: job, requeueAfter: 10_000 };
    expect(decided(inProgress({ outcome })).action).toMatchObject({
      fields: waits,
    });
    expect(decided({ backup: told, outcome })).toEqual(watching);
    expect(decided({ backup: told, outcome: { is: 'running' } }).action).toEqual({
      ...{ do: 'set-status', fields: { message: null, detail: null } },
    });
  });

  test('keeps the first message about a silent node until the reason changes', () => {
    const silent = (said: string) => ({
      message: `node n1 does not answer: ${said}`,
      detail: reason('NodeUnreachable', { node: 'n1', said }),
    });
    const outcome = { is: 'unknown', ...silent('port 40001') } as const;
    const told = backup({ status: { ...running, ...silent('port 40000') } });
    expect(decided({ backup: told, outcome })).toEqual({ retry: true });
    const refused = { message: 'node n1: no', detail: reason('LoginRefused', LOGIN) };
    expect(decided({ backup: told, outcome: { is: 'unknown', ...refused } })).toMatchObject({
      action: { fields: refused },
      retry: true,
    });
  });
});

const said = (message: string, code?: ReasonCode) => ({
  do: 'set-status',
  fields: { phase: 'Pending', message, detail: code ? { code } : null },
  event: { reason: 'BackupWaiting', message, ...(code && { detail: { code } }) },
});
test.each<[string, Partial<BackupInput>, object]>([
  [
    'a snapshot that does not exist',
    { backup: backup({ claimName: undefined as never, snapshotName: 's' }), snapshot: undefined },
    said('VolumeSnapshot prod/s does not exist', 'SnapshotMissing'),
  ],
  [
    'a snapshot that is not ready',
    { snapshot: snapshot({ status: { readyToUse: false, error: { message: 'no room' } } }) },
    said(`VolumeSnapshot prod/backup-${UID} is not ready: no room`, 'BackupSnapshotNotReady'),
  ],
  [
    'an unknown content',
    { content: undefined },
    { fields: { phase: 'Pending', detail: { code: 'BackupContentUnknown' } } },
  ],
  [
    'a content that is bound to its snapshot',
    { content: content({ volumeSnapshotRef: { uid: 'other' } }) },
    { fields: { phase: 'Pending' } },
  ],
  [
    'snapshot CRDs',
    { ...none, hasSnapshots: false },
    said(
      expect.stringContaining('stowage install --components snapshot-crds') as unknown as string,
      'SnapshotKindsMissing',
    ),
  ],
  [
    'a snapshot that cannot be created',
    { ...none, outcome: { is: 'unknown', message: 'exceeded quota' } },
    said('exceeded quota'),
  ],
  [
    'the end of a pause, with a recorded job',
    inProgress({ outcome: { is: 'none' } }, paused),
    { fields: { phase: 'Running', message: 'Backup b is paused', detail: PAUSED } },
  ],
  [
    'the end of a pause, with a failed job',
    inProgress({ outcome: failed('no', false) }, paused),
    { fields: { phase: 'Running', message: 'Backup b is paused', detail: PAUSED } },
  ],
  [
    'the end of a pause, while deleted',
    inProgress({}, { ...paused, deletionTimestamp: 'now' }),
    {
      fields: {
        ...{ phase: 'Running', message: 'Backup b is paused; the deletion waits' },
        detail: PAUSED,
      },
    },
  ],
  [
    'a node that does not answer, while deleted',
    {
      backup: backup({ status: done }, DELETING),
      outcome: { is: 'unknown', message: 'node n1 is not reached. Check the key.' },
    },
    {
      fields: {
        phase: 'Completed',
        message: expect.stringMatching(
          `Check the key[.] The deletion waits for the node[.].*: kubectl annotate backup -n prod b stowage.dev/forget-node=${UID}$`,
        ),
      },
    },
  ],
  [
    'a node that is paused',
    { nodeFacts: () => ({ ...there, paused: true }) },
    said('Node n1 is paused', 'SnapshotNodePaused'),
  ],
])('a backup waits for %s, and reports that once', (_what, change, action) => {
  const first = decided(change);
  expect(first.action).toMatchObject(action);
  const status = (first.action as unknown as { fields: NonNullable<Backup['status']> }).fields;
  const before = change.backup ?? backup();
  expect(
    decided({ ...change, backup: { ...before, status: { ...before.status, ...status } } }).action,
  ).toBeUndefined();
});

test.each<[string, Partial<BackupInput>, RegExp, ReasonCode?]>([
  [
    'a snapshot of another driver',
    { content: content({ driver: 'csi.example.com' }) },
    /was taken by driver csi\.example\.com, not by Stowage/,
    'BackupDriverForeign',
  ],
  [
    'a thin snapshot',
    { content: content({}, `lvm:n1:vg/snap-${COPY}`) },
    /is a thin logical volume/,
    'BackupSnapshotThin',
  ],
  [
    'a handle of an arbitrary file',
    { content: content({}, 'file:n1:/etc/shadow') },
    /must end in \/snapshots/,
    'BackupHandleInvalid',
  ],
  [
    'a foreign snapshot of its name',
    { snapshot: snapshot({ metadata: { name: `backup-${UID}`, uid: 's' } }) },
    /exists, and was not created for this Backup/,
    'BackupSnapshotForeign',
  ],
  [
    'a missing target',
    { backup: backup({ to: {} }) },
    /spec\.to must have exactly one of url and path/,
    'BackupTargetInvalid',
  ],
  [
    'a directory as target',
    { backup: backup({ to: { path: '/archives/' } }) },
    /must name a file/,
    'BackupTargetInvalid',
  ],
  ['a permanent failure', inProgress({ outcome: failed('no', true) }), /^no$/],
  [
    'a deleted snapshot, once its job failed',
    inProgress({ snapshot: going, outcome: failed('no', false) }),
    /is being deleted/,
    'BackupSnapshotBeingDeleted',
  ],
  [
    'four failed attempts',
    { backup: backup({ status: { ...running, attempt: 4 } }), outcome: failed('no', false) },
    /^no$/,
  ],
])('a backup fails because of %s', (...[, change, message, code]) => {
  const { action } = decided(change);
  const detail = code ? { code } : null;
  expect(action).toMatchObject({
    do: 'set-status',
    fields: { phase: 'Failed', message: expect.stringMatching(message), detail },
  });
});

test('a transient failure is reported, then retried as another job after a delay', () => {
  const outcome = { is: 'failed', message: 'the server answered 503', forGood: false } as const;
  expect(decided(inProgress({ outcome })).action).toMatchObject({
    fields: { phase: 'Running', message: 'the server answered 503' },
  });
  const told = { ...running, message: 'the server answered 503' };
  expect(decided({ backup: backup({ status: told }), outcome })).toEqual({ requeueAfter: 5000 });
  const late = { ...told, startedAt: '2030-01-01T09:59:50Z' };
  expect(decided({ backup: backup({ status: late }), outcome }).action).toMatchObject({
    fields: { attempt: 2, startedAt: '2030-01-01T10:00:00Z', message: null },
  });
  // The clock was set back.
  const future = { ...told, startedAt: '2030-01-01T12:00:00Z' };
  expect(decided({ backup: backup({ status: future }), outcome }).action).toMatchObject({
    fields: { attempt: 2, startedAt: '2030-01-01T10:00:00Z' },
  });
});

test('the size and hash of the archive are recorded in the status', () => {
  const outcome = { is: 'made', bytes: 9, sha256: 'a'.repeat(64) } as const;
  expect(decided(inProgress({ outcome })).action).toMatchObject({
    fields: {
      phase: 'Completed',
      bytes: 9,
      sha256: 'a'.repeat(64),
      finishedAt: '2030-01-01T10:00:00Z',
    },
    event: {
      ...{ type: 'Normal', reason: 'BackupCompleted', message: 'The archive has 9 bytes' },
      detail: reason('BackupMade', { bytes: 9 }),
    },
  });
});
