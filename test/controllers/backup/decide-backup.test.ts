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
  ['is kept first', { backup: backup({}, { finalizers: [] }) }, { do: 'add-finalizer' }],
  [
    'of a claim has a snapshot taken',
    { snapshot: undefined },
    { do: 'create-snapshot', name: `backup-${UID}` },
  ],
  [
    'names its job before that is one',
    {},
    {
      do: 'set-status',
      fields: {
        ...{ phase: 'Running', node: 'n1', attempt: 1, startedAt: '2030-01-01T10:00:00Z' },
        ...{ volumeMode: 'Filesystem', restoreSize: 1024 },
      },
    },
  ],
  ['has the job run that was named', inProgress(), { do: 'run', job, handle, mode: 'Filesystem' }],
  [
    'of a device is one',
    inProgress({ content: content({ sourceVolumeMode: 'Block' }) }),
    { do: 'run', job, handle, mode: 'Block' },
  ],
  [
    'that is paused has no job run, and is asked what came of the one that was named',
    inProgress({}, paused),
    { do: 'look', job },
  ],
  [
    'on a node that is paused has none run',
    inProgress({ nodeFacts: () => ({ ...there, paused: true }) }),
    { do: 'look', job },
  ],
  [
    'whose snapshot goes while it is packed is asked what came of that',
    inProgress({ snapshot: going }),
    { do: 'look', job },
  ],
  [
    'whose snapshot is gone, too',
    {
      backup: backup({ snapshotName: 's', claimName: undefined as never, status: running }),
      ...none,
    },
    { do: 'look', job },
  ],
  [
    'whose snapshot is gone may be made',
    {
      backup: backup({ snapshotName: 's', claimName: undefined as never, status: running }),
      ...{ ...none, outcome: { is: 'made', bytes: 9, sha256: 'a'.repeat(64) } },
    },
    { do: 'set-status', fields: { phase: 'Completed' } },
  ],
  [
    'whose job is not known any more has a snapshot taken again',
    inProgress({ ...none, outcome: { is: 'none' } }),
    { do: 'create-snapshot' },
  ],
  [
    'whose node is forgotten goes without it',
    inProgress(
      { snapshot: undefined },
      { deletionTimestamp: 'now', annotations: { 'stowage.dev/forget-node': UID } },
    ),
    { do: 'release' },
  ],
  [
    'has no snapshot any more once it is made',
    { backup: backup({ status: done }) },
    { do: 'delete-snapshot' },
  ],
  [
    'has none once it failed',
    { backup: backup({ status: { ...running, phase: 'Failed' } }) },
    { do: 'delete-snapshot' },
  ],
  [
    'that is deleted has what is left on its node removed first',
    inProgress({}, DELETING),
    { do: 'leave', job },
  ],
  [
    'and then its snapshot',
    inProgress({ outcome: { is: 'left' } }, DELETING),
    { do: 'delete-snapshot' },
  ],
  [
    'and goes',
    inProgress({ snapshot: undefined, outcome: { is: 'left' } }, DELETING),
    { do: 'release' },
  ],
  [
    'goes without a node that is no more',
    inProgress({ snapshot: undefined, nodeFacts: () => ({ ...there, exists: false }) }, DELETING),
    { do: 'release' },
  ],
])('a backup %s', (_what, change, action) => {
  expect(decided(change).action).toMatchObject(action);
});

describe('a backup without a next action', () => {
  test.each<[string, Partial<BackupInput>]>([
    ['once it is made', { backup: backup({ status: done }), snapshot: undefined }],
    [
      'where its snapshot is somebody else its own',
      { backup: backup({ snapshotName: 's', claimName: undefined as never, status: done }) },
    ],
    [
      'where the snapshot of that name is of somebody else',
      {
        backup: backup({ status: done }),
        snapshot: snapshot({ metadata: { name: `backup-${UID}`, namespace: 'prod', uid: 's' } }),
      },
    ],
    ['where others work on its node', { nodeFacts: () => ({ ...there, ours: false }) }],
    [
      'where it is being deleted by others alone',
      { backup: backup({}, { finalizers: ['x'], deletionTimestamp: 'now' }) },
    ],
  ])('rests %s', (_what, change) => {
    expect(decided(change)).toEqual({});
  });

  test.each<[string, Partial<BackupInput>]>([
    ['', {}],
    [', also when its snapshot goes', { snapshot: going }],
    [', also when it is paused', inProgress({}, paused)],
  ])('rests while its job runs%s, and follows the job', (_what, change) => {
    const input = inProgress({ outcome: { is: 'running' }, ...change });
    expect(decided(input)).toEqual({ follow: job, requeueAfter: 10_000 });
  });

  test('reports once that its job waits for a slot, and clears that afterwards', () => {
    const waits = { message: 'no place', detail: reason('BackupForgotten') };
    const outcome = { is: 'running', waits } as const;
    const told = backup({ status: { ...running, message: 'no place' } });
    const follow = { follow: job, requeueAfter: 10_000 };
    expect(decided(inProgress({ outcome })).action).toMatchObject({
      fields: waits,
    });
    expect(decided({ backup: told, outcome })).toEqual(follow);
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
    'a snapshot that is not there',
    { backup: backup({ claimName: undefined as never, snapshotName: 's' }), snapshot: undefined },
    said('VolumeSnapshot prod/s does not exist', 'SnapshotMissing'),
  ],
  [
    'a snapshot that is not ready',
    { snapshot: snapshot({ status: { readyToUse: false, error: { message: 'no room' } } }) },
    said(`VolumeSnapshot prod/backup-${UID} is not ready: no room`, 'BackupSnapshotNotReady'),
  ],
  [
    'a content that is not known',
    { content: undefined },
    { fields: { phase: 'Pending', detail: { code: 'BackupContentUnknown' } } },
  ],
  [
    'a content of another snapshot of the name',
    { content: content({ volumeSnapshotRef: { uid: 'other' } }) },
    { fields: { phase: 'Pending' } },
  ],
  [
    'a cluster that has snapshots',
    { ...none, hasSnapshots: false },
    said(
      expect.stringContaining('stowage install --components snapshot-crds') as unknown as string,
      'SnapshotKindsMissing',
    ),
  ],
  [
    'a snapshot that can not be made',
    { ...none, outcome: { is: 'unknown', message: 'exceeded quota' } },
    said('exceeded quota'),
  ],
  [
    'a pause, with a job named',
    inProgress({ outcome: { is: 'none' } }, paused),
    { fields: { phase: 'Running', message: 'Backup b is paused', detail: PAUSED } },
  ],
  [
    'a pause, with a job that failed',
    inProgress({ outcome: failed('no', false) }, paused),
    { fields: { phase: 'Running', message: 'Backup b is paused', detail: PAUSED } },
  ],
  [
    'a pause, to go',
    inProgress({}, { ...paused, deletionTimestamp: 'now' }),
    {
      fields: {
        ...{ phase: 'Running', message: 'Backup b is paused; the deletion waits' },
        detail: PAUSED,
      },
    },
  ],
  [
    'a node that does not answer, to go',
    {
      backup: backup({ status: done }, DELETING),
      outcome: { is: 'unknown', message: 'node n1 does not answer: Connection refused' },
    },
    {
      fields: {
        phase: 'Completed',
        message: expect.stringMatching(
          `Connection refused.*kubectl annotate backup -n prod b stowage.dev/forget-node=${UID}$`,
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
    'a snapshot of others',
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
    'a handle that names anything',
    { content: content({}, 'file:n1:/etc/shadow') },
    /must end in \/snapshots/,
    'BackupHandleInvalid',
  ],
  [
    'somebody else its snapshot',
    { snapshot: snapshot({ metadata: { name: `backup-${UID}`, uid: 's' } }) },
    /exists, and was not created for this Backup/,
    'BackupSnapshotForeign',
  ],
  [
    'no place',
    { backup: backup({ to: {} }) },
    /spec\.to must have exactly one of url and path/,
    'BackupTargetInvalid',
  ],
  [
    'a folder',
    { backup: backup({ to: { path: '/archives/' } }) },
    /must name a file/,
    'BackupTargetInvalid',
  ],
  ['what is refused for good', inProgress({ outcome: failed('no', true) }), /^no$/],
  [
    'a snapshot that went, once its job failed',
    inProgress({ snapshot: going, outcome: failed('no', false) }),
    /is being deleted/,
    'BackupSnapshotBeingDeleted',
  ],
  [
    'what failed four times',
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
