import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyEvent, KubeNode, PersistentVolume } from '../../../../src/api/core.ts';
import type { Leader } from '../../../../src/api/leader.ts';
import { MAX_WAIT_FOR_UNMOUNT_ANNOTATION as WAIT } from '../../../../src/api/names.ts';
import {
  EVENTS,
  LEASES,
  NODES,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../../src/api/resources.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import { run } from '../../../../src/cli/run.ts';
import { forceDetach } from '../../../../src/cli/volume/detach/force.ts';
import { connect } from '../../../../src/kube/connect.ts';
import type { KubeClient } from '../../../../src/kube/types.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../../support/cluster.ts';
import { NOW } from '../../../support/cluster-objects.ts';
import { fakeIo, type World } from '../../../support/fake-io.ts';
import { heldLease } from '../../../support/leading-lease.ts';
import { onNode, pvOf } from '../../../support/volumes.ts';
import { entry, node } from './attached-volume.ts';

/** Returns Node n1, which is NotReady for `seconds` by the clock of the server. */
const notReady = (seconds: number) =>
  node('False', seconds + Math.round((NOW - Date.now()) / 1000));

describe('detach volume --force against a server', () => {
  let cluster: TestCluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await startCluster();
    client = cluster.client;
  });
  afterAll(() => cluster.stop());

  /**
   * Creates a Volume and its PersistentVolume, attached to n1 and n2, and a node with a separate
   * name.
   */
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
      spec: { ...pv.spec, local: { path: '/dev/x' }, nodeAffinity: onNode('n1') },
    });
    await client.delete(NODES, 'n1').catch(() => {});
    if (kubeNode !== undefined) {
      await client.create(NODES, kubeNode);
      await client.patch(NODES, 'n1', { status: kubeNode.status }, { subresource: 'status' });
    }
  }

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
    ['gone', undefined, 'Node n1 no longer exists'],
    ['off', node('Unknown', 1, true), 'node n1 is out of service'],
    ['late', notReady(361), 'node n1 is NotReady for 6m'],
  ])(
    '%s: removes the attachment from status and annotation, and emits an event',
    async (name, kubeNode, why) => {
      await made(name, kubeNode);
      const { code, out, err } = await force(name);
      expect({ code, out }).toEqual({
        code: 0,
        out: `volume.storage.metalk8s.scality.com/${name} force-detached from n1\n`,
      });
      expect(err).toContain(`note: ${why}`);
      expect(err).toContain('the daemon verifies it and removes what is left');
      expect(err).toContain(
        'these pods are still assigned to node n1, where the Volume will be attached again: db/db-0',
      );
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
    },
  );

  test.each<[string, Partial<Leader>, string | null, string, number?]>([
    [
      'the wait of the daemon',
      { maxWaitForUnmountMs: 600_000 },
      null,
      'Wait until that is 10 minutes',
    ],
    [
      'an infinite wait of the daemon',
      { maxWaitForUnmountMs: Infinity },
      null,
      'Switch the machine off',
    ],
    [
      'the default, though the Lease has less',
      { maxWaitForUnmountMs: 1 },
      null,
      'Wait until that is 6 minutes',
      60,
    ],
    ['the wait of its class', {}, '2h', 'Wait until that is 120 minutes'],
  ])(
    'refuses a node that is NotReady for less than %s',
    async (_, leader, ofClass, hint, seconds = 361) => {
      await made(`early-${hint.length}`, notReady(seconds));
      await client.create(LEASES, heldLease(leader));
      const metadata = (wait: string | null) => ({ metadata: { annotations: { [WAIT]: wait } } });
      await client.patch(STORAGE_CLASSES, 'local', metadata(ofClass));
      try {
        const { code, err } = await force(`early-${hint.length}`);
        expect({ code, err }).toEqual({ code: 5, err: expect.stringContaining(hint) });
        expect(await stateOf(`early-${hint.length}`)).toMatchObject({ attachments: ['n1', 'n2'] });
      } finally {
        await client.delete(LEASES, 'stowage', { namespace: 'default' });
        await client.patch(STORAGE_CLASSES, 'local', metadata(null));
      }
    },
  );

  test('resumes an interrupted detach, also with a truncated annotation', async () => {
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
    expect(await stateOf('odd')).toMatchObject({ attachments: ['n2'], record: '[]' });
  });

  test('refuses a Volume that was recreated under the same name', async () => {
    await made('recreated', undefined);
    const { metadata, ...rest } = await client.get<Volume>(VOLUMES, 'recreated');
    const earlier = { ...rest, metadata: { ...metadata, uid: 'earlier' } };
    const how = { why: 'node n1 is out of service', recorded: false };
    await expect(forceDetach(earlier, 'n1', how, fakeIo().io, client)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await stateOf('recreated')).toEqual({
      attachments: ['n1', 'n2'],
      record: '["n1","n2"]',
      events: [],
    });
  });
});
