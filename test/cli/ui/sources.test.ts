import { afterEach, describe, expect, test } from '@jest/globals';
import type { PersistentVolumeClaim } from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { createHub } from '../../../src/cli/ui/hub.ts';
import { startSources } from '../../../src/cli/ui/sources.ts';
import { ConnectionError } from '../../../src/kube/errors.ts';
import type { KubeClient, WatchEvent } from '../../../src/kube/types.ts';
import type { FeedMessage } from '../../../src/ui/protocol.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { FakeClock, until } from '../../support/fake-clock.ts';
import { refusal } from '../../support/refusals.ts';
import { classNamed, pvOf, ready, volumeNamed } from '../../support/volumes.ts';

let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

/** Follows the sources of an API server whose lists, failures and events the test sets. */
function following(
  objects: Record<string, KubeObject[]> = {},
  failing: Record<string, Error> = {},
) {
  const failures = new Map(Object.entries(failing));
  const watchFailures = new Map<string, Error>();
  const watchers = new Map<string, (event: WatchEvent | Error) => void>();
  const client: Pick<KubeClient, 'list' | 'watch'> = {
    async list<T extends KubeObject>({ plural }: Resource) {
      const failure = failures.get(plural);
      if (failure !== undefined) throw failure;
      const items = (objects[plural] ?? []) as T[];
      return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
    },
    async *watch<T extends KubeObject>(
      { plural }: Resource,
      { signal }: { signal?: AbortSignal | undefined },
    ) {
      const failure = watchFailures.get(plural);
      if (failure !== undefined) {
        // A reader gets the state while the request is under way.
        drain();
        throw failure;
      }
      const queue: (WatchEvent | Error)[] = [];
      let wake = () => {};
      watchers.set(plural, (event) => {
        queue.push(event);
        wake();
      });
      for (;;) {
        const event = queue.shift();
        if (event instanceof Error) throw event;
        if (event !== undefined) yield event as WatchEvent<T>;
        else {
          await new Promise<void>((resolve, reject) => {
            wake = resolve;
            signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
          });
        }
      }
    },
  };
  const clock = new FakeClock();
  const hub = createHub({ server: 's', version: '1' }, clock);
  const subscription = hub.subscribe();
  stop = startSources(client, hub, clock, {
    error(fields) {
      throw new Error(JSON.stringify(fields));
    },
  });
  const seen: FeedMessage[] = [];
  const drain = () => {
    const text = subscription.outbox.take(100);
    seen.push(
      ...text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    );
  };
  const sees = (expected: object) =>
    until(() => {
      drain();
      return seen.some((message) => matches(message, expected));
    });
  return { clock, failures, watchFailures, watchers, drain, sees, seen };
}

const matches = (message: object, expected: object): boolean => {
  try {
    expect(message).toMatchObject(expected);
    return true;
  } catch {
    return false;
  }
};

/** Plurals of the kinds that the page follows. */
const KINDS = [
  ...['volumes', 'nodes', 'persistentvolumes', 'csistoragecapacities', 'storageclasses'],
  ...['persistentvolumeclaims', 'volumesnapshots'],
];

const claim = (name: string, spec: PersistentVolumeClaim['spec'], annotations = {}) => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  metadata: { namespace: 'db', name, uid: `uid-${name}`, annotations },
  spec,
  status: { phase: 'Bound' },
});

const down = new ConnectionError('https://cluster', 'connect ECONNREFUSED');

describe('the sources', () => {
  test('list all kinds, and join the claim and the room', async () => {
    const volume = volumeNamed('data1');
    const { sees } = following({
      volumes: [volume],
      nodes: [nodeNamed('n1', { ready: 'True' })],
      persistentvolumes: [pvOf(volume, 'Bound')],
      csistoragecapacities: [
        {
          ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity' },
          metadata: { name: 'c', namespace: 'stowage' },
          ...{ storageClassName: 'fast', capacity: '1Ki' },
          nodeTopology: { matchLabels: { 'kubernetes.io/hostname': 'n1' } },
        } as KubeObject,
      ],
    });
    await sees({ rows: [{ name: 'data1', claim: 'db/data-0' }] });
    await sees({ rows: [{ name: 'n1', room: [{ storageClass: 'fast', bytes: 1024 }] }] });
    await sees({ type: 'source', kind: 'volumes', state: 'listed' });
    await sees({ type: 'connection', connected: true });
  });

  test('report a refused kind with the reason, and go on with the others', async () => {
    const { sees, seen } = following(
      { volumes: [volumeNamed('data1')] },
      { nodes: refusal(403), persistentvolumes: refusal(404) },
    );
    await sees({
      kind: 'nodes',
      state: 'refused',
      message: expect.any(String),
      hint: expect.any(String),
    });
    await sees({ kind: 'persistentvolumes', state: 'refused' });
    await sees({ kind: 'volumes', state: 'listed' });
    await sees({ type: 'connection', connected: true });
    expect(seen).not.toContainEqual(expect.objectContaining({ kind: 'nodes', state: 'listed' }));
  });

  test('show a kind again once it is allowed', async () => {
    const { failures, clock, sees } = following({}, { nodes: refusal(403) });
    await sees({ kind: 'nodes', state: 'refused' });
    failures.clear();
    await clock.advance(60_000);
    await sees({ kind: 'nodes', state: 'listed' });
  });

  test('report a kind that may be listed, but not watched', async () => {
    const { watchFailures, clock, drain, sees, seen } = following({
      volumes: [volumeNamed('data1')],
    });
    watchFailures.set('volumes', refusal(403));
    await sees({ kind: 'volumes', state: 'refused' });
    await sees({ rows: [{ name: 'data1' }] });
    seen.length = 0;
    await clock.advance(60_000);
    // The lists of the retries do not make the kind look up to date.
    drain();
    expect(seen).not.toContainEqual(expect.objectContaining({ kind: 'volumes', state: 'listed' }));
  });

  test('report a lost API server with the error, and recover', async () => {
    const { failures, watchers, clock, drain, sees, seen } = following({
      volumes: [volumeNamed('data1')],
    });
    await sees({ type: 'connection', connected: true });
    for (const kind of KINDS) {
      failures.set(kind, down);
      watchers.get(kind)?.(down);
    }
    await clock.advance(1000);
    await sees({
      type: 'connection',
      connected: false,
      error: expect.stringContaining('ECONNREFUSED'),
    });
    await sees({ kind: 'volumes', state: 'failed' });
    // A screen reader announces the outage once, not each failed request.
    for (const kind of failures.keys()) failures.set(kind, new ConnectionError('x', 'other'));
    seen.length = 0;
    await clock.advance(10_000);
    drain();
    expect(seen.filter(({ type }) => type === 'connection')).toEqual([]);
    failures.clear();
    seen.length = 0;
    await clock.advance(60_000);
    await sees({ type: 'connection', connected: true });
    await sees({ kind: 'volumes', state: 'listed' });
  });

  test('have the claims that Stowage serves, with their Volume, and all snapshots', async () => {
    const volume = volumeNamed('data1', ready('False', 'NoSpace'));
    const { sees, drain, seen, watchers } = following({
      volumes: [volume],
      persistentvolumes: [pvOf(volume, 'Bound')],
      storageclasses: [classNamed('fast'), classNamed('other', { provisioner: 'example.com/x' })],
      persistentvolumeclaims: [
        claim('data-0', { volumeName: 'data1' }),
        claim('waits', { storageClassName: 'fast' }),
        claim('foreign', { storageClassName: 'other' }),
      ],
      volumesnapshots: [
        {
          ...{ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshot' },
          metadata: { namespace: 'db', name: 'nightly' },
          spec: { source: { persistentVolumeClaimName: 'data-0' } },
        } as KubeObject,
      ],
    });
    await sees({ rows: [{ name: 'db/nightly', claim: 'db/data-0', phase: 'Pending' }] });
    await sees({ kind: 'claims', state: 'listed' });
    await sees({ kind: 'storageclasses', state: 'listed' });
    drain();
    const rows = new Map(
      seen.flatMap((message) =>
        message.type === 'rows' && message.kind === 'claims'
          ? message.rows.map((row) => [row.name, row] as const)
          : [],
      ),
    );
    expect([...rows.keys()].toSorted()).toEqual(['db/data-0', 'db/waits']);
    expect(rows.get('db/data-0')).toMatchObject({ volume: 'data1', reason: 'NoSpace' });
    // A change of the Volume that its claim shows is a change of the claim.
    seen.length = 0;
    const object = volumeNamed('data1', ready('True', 'Ready'));
    object.metadata.resourceVersion = '2';
    await until(() => watchers.has('volumes'));
    watchers.get('volumes')?.({ type: 'MODIFIED', object });
    await sees({ kind: 'claims', rows: [{ name: 'db/data-0', reason: '' }] });
  });

  test('tell how to get snapshots in a cluster without their kind', async () => {
    const { sees } = following({}, { volumesnapshots: refusal(404) });
    await sees({
      ...{ kind: 'snapshots', state: 'refused', message: 'This cluster has no VolumeSnapshots' },
      hint: expect.stringContaining('stowage install'),
    });
  });

  test('follow changes: one row for each', async () => {
    const { watchers, sees, seen } = following({ volumes: [volumeNamed('a'), volumeNamed('b')] });
    await sees({ kind: 'volumes', state: 'listed' });
    await until(() => watchers.has('volumes'));
    seen.length = 0;
    const object = volumeNamed('a', { phase: 'Failed' });
    object.metadata.resourceVersion = '2';
    watchers.get('volumes')?.({ type: 'MODIFIED', object });
    await sees({ rows: [{ name: 'a', phase: 'Failed' }] });
    expect(seen).toHaveLength(1);
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: '3' } };
    watchers.get('volumes')?.({ type: 'DELETED', object: gone });
    await sees({ type: 'gone', names: ['a'] });
  });
});
