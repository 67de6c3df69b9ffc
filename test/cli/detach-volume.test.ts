import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyEvent, KubeNode, PersistentVolume } from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { EVENTS, NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';
import type { Attachment, Volume, VolumeSpec } from '../../src/api/volume.ts';
import { letGo } from '../../src/cli/detach/force.ts';
import { run } from '../../src/cli/run.ts';
import { connect } from '../../src/kube/connect.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient, WatchEvent } from '../../src/kube/types.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { fakeIo, stowage, type World } from '../support/fake-io.ts';
import { pvOf, volumeNamed } from '../support/volumes.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const DETACH = ['detach', 'volume', 'a', '--node', 'n1'];
const TAINT = 'node.kubernetes.io/out-of-service';

const entry = (more: Partial<Attachment> = {}): Attachment => ({
  node: 'n1',
  state: 'Attached',
  safeToMount: true,
  safeToDetach: false,
  pods: [],
  since: ago(60),
  ...more,
});
function volume(attachments: Attachment[], spec: Partial<VolumeSpec> = {}, resourceVersion = '1'): Volume {
  const base = volumeNamed('a', { phase: 'Available', attachments });
  return {
    ...base,
    metadata: { ...base.metadata, resourceVersion },
    spec: { ...base.spec, attachPolicy: 'OnDemand', ...spec },
  };
}
const node = (ready: string | undefined, seconds: number | undefined, tainted = false): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: { taints: tainted ? [{ key: TAINT, effect: 'NoExecute' }] : [] },
  status: {
    conditions:
      ready === undefined
        ? []
        : [
            {
              type: 'Ready',
              status: ready,
              ...(seconds === undefined ? {} : { lastTransitionTime: ago(seconds) }),
            },
          ],
  },
});
const writes = (requests: { what: string }[]) =>
  requests.map(({ what }) => what).filter((what) => /^(patch|delete|create)/.test(what));

describe('without --force', () => {
  const modified = (attachments: Attachment[], resourceVersion: string): WatchEvent => ({
    type: 'MODIFIED',
    object: volume(attachments, {}, resourceVersion),
  });

  test('waits for the daemon, and tells how far it is', async () => {
    const { code, out, err, requests } = await stowage(DETACH, {
      objects: { 'volumes/a': volume([entry()]) },
      events: [
        modified([entry({ state: 'Detaching', message: '/srv/x is mounted' })], '2'),
        modified([entry({ node: 'n2' })], '3'),
      ],
    });
    expect({ code, out }).toEqual({
      code: 0,
      out: 'volume.storage.metalk8s.scality.com/a detached from n1\n',
    });
    expect(err).toBe('a: Attached\na: Detaching: /srv/x is mounted\n');
    expect(writes(requests)).toEqual([]);
  });

  test('a Volume that is gone is detached', async () => {
    const objects = { 'volumes/a': volume([entry()], { attachPolicy: 'Always' }) };
    objects['volumes/a'].metadata.deletionTimestamp = ago(1);
    const world = { objects, events: [{ type: 'DELETED', object: objects['volumes/a'] }] as WatchEvent[] };
    expect(await stowage(DETACH, world)).toMatchObject({ code: 0 });
  });

  test('data is the Volume as it is then', async () => {
    const then = volume([], {}, '2');
    const world = {
      objects: { 'volumes/a': volume([entry()]) },
      events: [{ type: 'MODIFIED', object: then }] as WatchEvent[],
    };
    const { out } = await stowage([...DETACH, '-o', 'json'], world);
    expect(JSON.parse(out)).toEqual(then);
  });

  test.each<[string, Volume, Record<string, KubeObject>, string, string]>([
    [
      'its policy',
      volume([entry()], { attachPolicy: 'Always' }),
      {},
      'its attachPolicy is Always: it would be attached to n1 again',
      `kubectl patch volume a --type merge -p '{"spec":{"attachPolicy":"OnDemand"}}'`,
    ],
    [
      'pods',
      volume([entry({ pods: ['db/db-0', 'db/db-1'] })]),
      {},
      'these pods need it there: db/db-0, db/db-1',
      'stowage detach volume a --node n1 --force',
    ],
    [
      'a pod, on a directory that nodes share,',
      volume([entry({ pods: ['db/db-0'] })], { attachableNodes: ['n1', 'n2'] }),
      {},
      'this pod needs it there: db/db-0',
      `and switched off: kubectl taint node n1 '${TAINT}=nodeshutdown:NoExecute'`,
    ],
    [
      'a pause of the Node',
      volume([entry()]),
      {
        'nodes/n1': {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: 'n1', annotations: { 'stowage.dev/paused': '' } },
        },
      },
      'Node n1 is paused',
      'kubectl annotate node n1 stowage.dev/paused-',
    ],
  ])('refuses what %s would keep attached', async (_, it, more, why, hint) => {
    const { code, out, err } = await stowage(DETACH, { objects: { 'volumes/a': it, ...more } });
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toContain(`error: Volume a stays attached to node n1: ${why}`);
    expect(err).toContain(hint);
  });

  test('the default policy is Always, and holds on the home alone', async () => {
    const { attachPolicy: _, ...spec } = volume([]).spec;
    const home = { ...volume([entry()]), spec };
    expect(await stowage(DETACH, { objects: { 'volumes/a': home } })).toMatchObject({ code: 5 });
    const moved = {
      ...home,
      status: { ...home.status, prepared: { node: 'n2', paths: [], identity: '' } },
    };
    const detached: Volume = { ...moved, status: { attachments: [] } };
    const events: WatchEvent[] = [{ type: 'MODIFIED', object: detached }];
    expect(await stowage(DETACH, { objects: { 'volumes/a': moved }, events })).toMatchObject({ code: 0 });
  });

  test('a pod that comes meanwhile', async () => {
    const { code, err } = await stowage(DETACH, {
      objects: { 'volumes/a': volume([entry()]) },
      events: [modified([entry({ pods: ['db/late'] })], '2')],
    });
    expect(code).toBe(5);
    expect(err).toContain('this pod needs it there: db/late');
  });

  test('nothing is attached there', async () => {
    const elsewhere = volume([entry({ node: 'n2' })]);
    const { code, err } = await stowage(DETACH, { objects: { 'volumes/a': elsewhere } });
    expect(code).toBe(3);
    expect(err).toBe('error: Volume a is not attached to node n1\nhint: It is attached to n2 (Attached).\n');
    expect(await stowage(DETACH, { objects: {} })).toMatchObject({ code: 3 });
  });

  test('gives up after --timeout, and says what it waited for', async () => {
    const clock = new FakeClock();
    const held = volume([entry({ state: 'Detaching', message: '/srv/x is mounted' })]);
    const running = stowage([...DETACH, '--timeout', '10s'], { objects: { 'volumes/a': held }, clock });
    await clock.advance(10_000);
    const { code, err } = await running;
    expect(code).toBe(6);
    expect(err).toContain(
      'error: Volume a is still attached to node n1 after 10 s: Detaching: /srv/x is mounted\n',
    );
    expect(err).toContain('stowage why volume a');
  });

  test.each([[[]], [['--node', 'N1']], [['--node', 'n1', '--node', 'n2']]])(
    'with %j is wrong usage',
    async (flags) => {
      expect(await stowage(['detach', 'volume', 'a', ...flags])).toMatchObject({ code: 2, requests: [] });
    },
  );
});

describe('--force is refused', () => {
  const shared: Partial<VolumeSpec> = { attachableNodes: ['n1', 'n2'] };

  test.each<[string, Partial<VolumeSpec>, KubeNode, string, string]>([
    ['a node that is Ready', {}, node('True', 900), 'node n1 is Ready', `kubectl taint node n1 `],
    [
      'a taint on a node that is Ready',
      {},
      node('True', 900, true),
      `though it has the taint ${TAINT}`,
      'Nothing is taken from a node that lives',
    ],
    ['a node NotReady for a moment', {}, node('Unknown', 360), 'NotReady for 6m', 'Wait until that is 6'],
    ['a node of which it is not known', {}, node('False', undefined), 'not known since when', 'Wait'],
    ['a node that never was Ready', {}, node(undefined, undefined), 'not known since when', 'Wait'],
    [
      'a node NotReady for long that shares its directory',
      shared,
      node('Unknown', 7200),
      'NotReady for 120m, and may still write',
      `kubectl taint node n1 '${TAINT}=nodeshutdown:NoExecute'`,
    ],
  ])('%s', async (_, spec, kubeNode, found, hint) => {
    const objects = { 'volumes/a': volume([entry()], spec), 'nodes/n1': kubeNode };
    const { code, err, requests } = await stowage([...DETACH, '--force', '--yes'], { objects });
    expect(code).toBe(5);
    expect(err).toContain('error: Volume a is not detached by force from node n1: ');
    expect(err).toContain(found);
    expect(err).toContain(hint);
    expect(writes(requests)).toEqual([]);
  });

  test('what only another’s PersistentVolume of its name tells', async () => {
    const annotations = { 'stowage.dev/attached-nodes': '["n1"]' };
    const own = pvOf(volume([]), 'Available');
    const recorded = { ...own, metadata: { ...own.metadata, annotations } };
    const foreign = { ...recorded, metadata: { ...recorded.metadata, ownerReferences: [] } };
    const ofPv = async (pv: KubeObject) => {
      const objects = { 'volumes/a': volume([]), 'persistentvolumes/a': pv };
      const { code, requests } = await stowage([...DETACH, '--force'], { objects });
      return { code, writes: writes(requests) };
    };
    expect(await ofPv(foreign)).toEqual({ code: 3, writes: [] });
    expect(await ofPv(recorded)).toMatchObject({
      code: 0,
      writes: expect.arrayContaining(['patch persistentvolumes/a']),
    });
  });

  test('where nothing is attached, and where the Node may not be read', async () => {
    const nothing = { objects: { 'volumes/a': volume([]) } };
    expect(await stowage([...DETACH, '--force'], nothing)).toMatchObject({ code: 3 });
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'no' } as const;
    const failures = { 'get nodes/n1': new ApiError(status, 403, 'GET') };
    const world: World = { objects: { 'volumes/a': volume([entry()]) }, failures };
    const { code, requests } = await stowage([...DETACH, '--force'], world);
    expect({ code, writes: writes(requests) }).toEqual({ code: 4, writes: [] });
  });

  test('a shared directory whose node is gone, unless somebody says that the machine is off', async () => {
    const objects = { 'volumes/a': volume([entry()], shared) };
    const { code, err, requests } = await stowage([...DETACH, '--force'], { objects });
    expect({ code, writes: writes(requests) }).toEqual({ code: 2, writes: [] });
    expect(err).toContain('two nodes write to one file');
    expect(await stowage([...DETACH, '--force', '--yes'], { objects })).toMatchObject({ code: 0 });
    const asked = await stowage([...DETACH, '--force'], { objects, tty: true, answers: [false] });
    expect(asked).toMatchObject({ code: 5, questions: ['Is the machine off?'] });
  });
});

describe('--force against a server', () => {
  let cluster: TestCluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await startCluster();
    client = cluster.client;
  });
  afterAll(() => cluster.stop());

  /** A Volume and its PersistentVolume, attached to n1 and n2, and a node of a name of its own. */
  async function made(
    name: string,
    kubeNode: KubeNode | undefined,
    record = '["n1","n2"]',
    owner: Partial<Volume['metadata']> = {},
  ) {
    const attachPolicy = 'OnDemand' as const;
    const { spec, ...sparse } = sparseVolume(name, 'n1', '1Gi');
    const it = await client.create<Volume>(VOLUMES, { ...sparse, spec: { ...spec, attachPolicy } });
    const attachments = [entry({ pods: ['db/db-0'] }), entry({ node: 'n2' })];
    await client.patch(VOLUMES, name, { status: { attachments } }, { subresource: 'status' });
    const pv = pvOf({ ...it, metadata: { ...it.metadata, ...owner } }, 'Available');
    await client.create<PersistentVolume>(PERSISTENT_VOLUMES, {
      ...pv,
      metadata: { ...pv.metadata, annotations: { 'stowage.dev/attached-nodes': record } },
      spec: { ...pv.spec, local: { path: '/dev/x' }, nodeAffinity: AFFINITY },
    });
    await client.delete(NODES, 'n1').catch(() => {});
    if (kubeNode !== undefined) {
      await client.create(NODES, kubeNode);
      await client.patch(NODES, 'n1', { status: kubeNode.status }, { subresource: 'status' });
    }
  }
  const AFFINITY = {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1', 'n2'] }] },
      ],
    },
  };

  async function force(name: string, world: World = {}) {
    const { io, outcome } = fakeIo(world);
    const argv = ['detach', 'volume', name, '--node', 'n1', '--force'];
    const code = await run([...argv, '--kubeconfig', cluster.kubeconfig], { ...io, connect });
    return { ...outcome, code };
  }
  async function stateOf(name: string) {
    const { status } = await client.get<Volume>(VOLUMES, name);
    const { metadata } = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    const { items } = await client.list<AnyEvent>(EVENTS, { namespace: 'default' });
    return {
      attachments: status?.attachments?.map((each) => each.node),
      record: metadata.annotations?.['stowage.dev/attached-nodes'],
      events: items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ type, reason, message }) => ({ type, reason, message })),
    };
  }

  test.each<[string, KubeNode | undefined, string]>([
    ['gone', undefined, 'there is no Node n1 any more'],
    ['off', node('Unknown', 1, true), 'node n1 is out of service'],
    ['late', node('False', 361), 'node n1 is NotReady for 6m'],
  ])('%s: takes it out of the status and the record, and says what it did', async (name, kubeNode, why) => {
    await made(name, kubeNode);
    const { code, out, err } = await force(name);
    expect({ code, out }).toEqual({
      code: 0,
      out: `volume.storage.metalk8s.scality.com/${name} detached from n1 by force\n`,
    });
    expect(err).toContain(`note: ${why}`);
    expect(err).toContain('the daemon looks there and removes what is left');
    expect(err).toContain('these pods are still to run on node n1, where it will be attached again: db/db-0');
    expect(await stateOf(name)).toEqual({
      attachments: ['n2'],
      record: '["n2"]',
      events: [
        {
          type: 'Warning',
          reason: 'ForcedDetach',
          message: expect.stringContaining(why),
        },
      ],
    });
    expect(await force(name)).toMatchObject({ code: 3 });
  });

  test('goes on where it was interrupted, and leaves a record alone that is no list', async () => {
    await made('again', undefined, '["n1","n2"]');
    await client.patch(
      VOLUMES,
      'again',
      { status: { attachments: [entry({ node: 'n2' })] } },
      { subresource: 'status' },
    );
    expect(await force('again')).toMatchObject({ code: 0 });
    expect(await stateOf('again')).toMatchObject({ attachments: ['n2'], record: '["n2"]' });
    await made('foreign', undefined, '["n1"]', { uid: 'uid-of-another' });
    expect(await force('foreign')).toMatchObject({ code: 0 });
    expect((await client.get<Volume>(VOLUMES, 'foreign')).status?.attachments).toHaveLength(1);
    await made('odd', undefined, '{"n1"');
    expect(await force('odd')).toMatchObject({ code: 0 });
    expect(await stateOf('odd')).toMatchObject({ attachments: ['n2'], record: '{"n1"' });
  });

  test('leaves a Volume alone that was created again under the name', async () => {
    await made('recreated', undefined);
    const { metadata, ...rest } = await client.get<Volume>(VOLUMES, 'recreated');
    const earlier = { ...rest, metadata: { ...metadata, uid: 'earlier' } };
    const how = { why: 'node n1 is out of service', recorded: false };
    await expect(letGo(earlier, 'n1', how, fakeIo().io, client)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf('recreated')).toEqual({
      attachments: ['n1', 'n2'],
      record: '["n1","n2"]',
      events: [],
    });
  });
});
