import { describe, expect, test } from '@jest/globals';
import type { Backup } from '../../../src/api/builtins/backup.ts';
import type { KubeNode } from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { explain } from '../../../src/api/reasons.ts';
import type { VolumeSnapshot } from '../../../src/api/snapshot.ts';
import {
  type BackupDeps,
  createBackupReconciler,
} from '../../../src/controllers/backup/reconciler.ts';
import type { BackupOutcome } from '../../../src/controllers/backup/types.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { memoryLogger } from '../../support/logger.ts';
import { node } from '../provisioner/claim-input.ts';
import { backup, content, snapshot, UID } from './backup-objects.ts';

const NOW = Date.parse('2030-01-01T10:00:00Z');
const FINALIZER = 'stowage.dev/backup-protection';
const running: Backup['status'] = {
  phase: 'Running',
  node: 'n1',
  attempt: 1,
  volumeMode: 'Filesystem',
};
const done: Backup['status'] = { ...running, phase: 'Completed', bytes: 9, sha256: 'a'.repeat(64) };
const going = { deletionTimestamp: '2030-01-01T09:00:00Z' };
const paused = { annotations: { 'stowage.dev/paused': 'true' } };

const at = (resourceVersion: string, of: Backup): Backup => ({
  ...of,
  metadata: { ...of.metadata, resourceVersion },
});
const refused = (code: number, reason = '') =>
  new ApiError({ apiVersion: 'v1', kind: 'Status', code, reason } as never, code, 'PATCH');

interface Scene {
  /** Object in the cache. Defaults to that of the API server. */
  cached?: Backup;
  live: Backup | undefined;
  cachedSnapshot?: VolumeSnapshot | undefined;
  liveSnapshot?: VolumeSnapshot | undefined;
  liveNode?: KubeNode;
  outcome?: BackupOutcome;
  /** Refusal of the API server to create a VolumeSnapshot. */
  refusal?: ApiError;
  acts?: boolean;
  hasSnapshots?: boolean | undefined;
}

/**
 * Reconciles one Backup with caches that may lag behind the API server, which compares UIDs and
 * versions.
 */
async function reconcile(scene: Scene) {
  const { liveSnapshot = snapshot(), liveNode = node('n1'), refusal, acts = true } = scene;
  const { outcome = { is: 'running' } } = scene;
  const sent: string[] = [];
  const asked: string[] = [];
  const events: string[] = [];
  let { live } = scene;
  let cached: Backup | undefined = scene.cached ?? scene.live;
  let known: VolumeSnapshot | undefined =
    'cachedSnapshot' in scene ? scene.cachedSnapshot : liveSnapshot;
  const client = {
    async get(resource: Resource) {
      const found = { Backup: live, Node: liveNode, VolumeSnapshot: liveSnapshot }[resource.kind];
      if (found === undefined) throw refused(404);
      return found;
    },
    async patch(_: Resource, __: string, patch: Partial<Backup>) {
      const { uid, resourceVersion } = patch.metadata ?? {};
      if (live === undefined) throw refused(404);
      const { metadata } = live;
      const isBehind =
        resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion;
      if (isBehind || (uid !== undefined && uid !== metadata.uid)) throw refused(409, 'Conflict');
      const next = String(Number(metadata.resourceVersion) + 1);
      sent.push(`patch ${patch.status?.phase ?? `[${patch.metadata?.finalizers}]`}`);
      const merged = { ...metadata, ...patch.metadata, resourceVersion: next };
      live = { ...live, ...patch, status: { ...live.status, ...patch.status }, metadata: merged };
      return live;
    },
    async create(_: Resource, object: VolumeSnapshot) {
      if (refusal !== undefined) throw refusal;
      sent.push(`create ${object.kind} ${object.metadata.name}`);
      return object;
    },
    async delete({ kind }: Resource, name: string, { uid }: { uid?: string }) {
      if (uid !== undefined && uid !== liveSnapshot.metadata.uid) throw refused(409, 'Conflict');
      sent.push(`delete ${kind} ${name}`);
    },
  };
  const cacheOf = <T extends KubeObject>(get: () => T | undefined, recordWrite = (_: T) => {}) => ({
    get,
    recordWrite,
  });
  const answer = async (what: string) => {
    asked.push(what);
    return outcome;
  };
  const deps = {
    client,
    backups: cacheOf(
      () => cached,
      (object) => {
        cached = object;
      },
    ),
    snapshots: cacheOf(
      () => known,
      (object) => {
        known = object;
      },
    ),
    contents: cacheOf(() => content()),
    nodes: cacheOf(() => node('n1')),
    hasSnapshots: () => ('hasSnapshots' in scene ? scene.hasSnapshots : true),
    work: {
      async run(...[, { attempt }, , mode, isCurrent]) {
        asked.push(`run ${attempt} ${mode}`);
        if (await isCurrent()) return outcome;
        asked.push('not current');
        return { is: 'running' };
      },
      observe: () => answer('observe'),
      leave: () => answer('leave'),
      forget: async () => void asked.push('forget'),
    } satisfies BackupDeps['work'],
    jobWatcher: { watch: (of: string, { id }: { id: string }) => asked.push(`watch ${of} ${id}`) },
    managesNode: () => acts,
    events: { event: (_: unknown, __: string, reason: string) => events.push(reason) },
    clock: { timeOfDay: () => NOW },
    logger: memoryLogger(),
    enqueue() {},
  } as unknown as BackupDeps;
  const result = await createBackupReconciler(deps)('prod', 'b', new AbortController().signal);
  return { result, sent, asked, events, live: () => live };
}

const fresh = at('1', backup({}, { finalizers: [] }));
const inProgress = at('1', backup({ status: running }));
const RUN = ['run 1 Filesystem', 'watch n1 backup-1'];

test('a new Backup gets a finalizer, a snapshot, and a recorded job before the run', async () => {
  const made = { is: 'made', bytes: 9, sha256: 'a'.repeat(64) } as const;
  const { sent, asked, events, live } = await reconcile({
    ...{ live: fresh, cachedSnapshot: undefined, outcome: made },
  });
  expect(sent).toEqual([
    `patch [${FINALIZER}]`,
    `create VolumeSnapshot backup-${UID}`,
    'patch Pending',
  ]);
  expect([asked, events]).toEqual([[], ['BackupWaiting']]);
  const next = await reconcile({ live: live() as Backup, outcome: made });
  expect(next.sent).toEqual([
    'patch Running',
    'patch Completed',
    `delete VolumeSnapshot backup-${UID}`,
  ]);
  expect([next.asked, next.events]).toEqual([['run 1 Filesystem', 'forget'], ['BackupCompleted']]);
});

describe('a write', () => {
  const since = at('2', backup({}, { finalizers: ['example.com/theirs'] }));

  test('is repeated on a conflict, and keeps finalizers of others', async () => {
    const { sent, live } = await reconcile({ cached: fresh, live: since });
    expect(sent[0]).toBe(`patch [example.com/theirs,${FINALIZER}]`);
    expect(live()?.metadata.finalizers).toEqual(['example.com/theirs', FINALIZER]);
  });

  test('does not change another Backup of the same name', async () => {
    const other = at(
      '1',
      backup({ status: done }, { uid: 'other', finalizers: ['example.com/theirs'] }),
    );
    const { sent, live } = await reconcile({
      cached: fresh,
      live: other,
      cachedSnapshot: undefined,
    });
    expect([sent, live()]).toEqual([[], other]);
  });

  test('to a deleted Backup is retried without an error', async () => {
    const { result, sent } = await reconcile({ cached: fresh, live: undefined });
    expect([result, sent]).toEqual([{ retry: true }, []]);
  });
});

describe('a snapshot', () => {
  const over = at('1', backup({ status: done }));
  const recreated = snapshot({ metadata: { ...snapshot().metadata, uid: 'recreated' } });

  test.each<[string, Partial<Scene>, string[]]>([
    ['is deleted once its Backup completed', {}, [`delete VolumeSnapshot backup-${UID}`]],
    [
      'stays if it was recreated with the same name',
      { cachedSnapshot: snapshot(), liveSnapshot: recreated },
      [],
    ],
  ])('%s', async (_, scene, requests) => {
    expect((await reconcile({ live: over, ...scene })).sent).toEqual(requests);
  });

  test.each<[string, ApiError, string[]]>([
    [
      'waits, with the reason, if a quota refuses the snapshot',
      refused(403, 'Forbidden'),
      ['patch Pending'],
    ],
    ['uses a snapshot that exists already', refused(409, 'AlreadyExists'), ['patch Running']],
  ])('%s', async (_, refusal, requests) => {
    const live = at('1', backup());
    expect((await reconcile({ live, cachedSnapshot: undefined, refusal })).sent).toEqual(requests);
  });

  test('leaves the reason of a refusal in the status', async () => {
    const refusal = refused(403, 'Forbidden');
    const { live } = await reconcile({
      ...{ live: at('1', backup()), cachedSnapshot: undefined, refusal },
    });
    const of = { snapshot: `prod/backup-${UID}`, said: refusal.message };
    expect(live()?.status).toMatchObject(explain('BackupSnapshotRefused', of));
  });

  test('is retried if the API server is unavailable', async () => {
    const scene = { live: at('1', backup()), cachedSnapshot: undefined, refusal: refused(503) };
    await expect(reconcile(scene)).rejects.toThrow();
  });
});

describe('a job', () => {
  test.each<[string, Partial<Scene>, string[]]>([
    ['runs for an unchanged Backup', {}, RUN],
    [
      'does not run for a Backup that changed since',
      { live: at('2', inProgress) },
      ['run 1 Filesystem', 'not current', 'watch n1 backup-1'],
    ],
    [
      'does not run for a Backup that was paused since',
      { live: { ...inProgress, metadata: { ...inProgress.metadata, ...paused } } },
      ['run 1 Filesystem', 'not current', 'watch n1 backup-1'],
    ],
    [
      'does not run on a node that was paused since',
      { liveNode: node('n1', 'True', paused) },
      ['run 1 Filesystem', 'not current', 'watch n1 backup-1'],
    ],
    ['does not run on a node of another process', { acts: false }, []],
  ])('%s', async (_, scene, asked) => {
    expect((await reconcile({ cached: inProgress, live: inProgress, ...scene })).asked).toEqual(
      asked,
    );
  });

  test('is removed before the snapshot, and the snapshot before the Backup', async () => {
    const live = at('1', backup({ status: running }, going));
    const outcome = { is: 'left' } as const;
    const first = await reconcile({ live, outcome });
    expect([first.asked, first.sent]).toEqual([['leave'], [`delete VolumeSnapshot backup-${UID}`]]);
    const second = await reconcile({ live, outcome, cachedSnapshot: undefined });
    expect([second.asked, second.sent]).toEqual([['leave'], ['patch []']]);
  });
});

test('a Backup waits until it is known whether the cluster has snapshots', async () => {
  const { result, sent } = await reconcile({ live: fresh, hasSnapshots: undefined });
  expect([result, sent]).toEqual([{ retry: true }, []]);
});
