import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../../src/api/core.ts';
import type { KubeObject } from '../../../../src/api/meta.ts';
import type { Attachment, Volume, VolumeSpec } from '../../../../src/api/volume.ts';
import type { WatchEvent } from '../../../../src/kube/types.ts';
import { ago, NOW, nodeNamed } from '../../../support/cluster-objects.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { refusal } from '../../../support/refusals.ts';
import { pvOf } from '../../../support/volumes.ts';
import { DETACH, entry, node, TAINT, volume, writes } from './attached-volume.ts';

const HOUR = 3_600_000;

describe('detach volume without --force', () => {
  const modified = (attachments: Attachment[], resourceVersion: string): WatchEvent => ({
    type: 'MODIFIED',
    object: volume(attachments, {}, resourceVersion),
  });

  test('waits for the daemon, and shows its progress', async () => {
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

  test('succeeds if the Volume is gone', async () => {
    const objects = { 'volumes/a': volume([entry()], { attachPolicy: 'Always' }) };
    objects['volumes/a'].metadata.deletionTimestamp = ago(1);
    const world = {
      objects,
      events: [{ type: 'DELETED', object: objects['volumes/a'] }] as WatchEvent[],
    };
    expect(await stowage(DETACH, world)).toMatchObject({ code: 0 });
  });

  test('-o json prints the Volume after the detach', async () => {
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
      'a pod in a shared directory',
      volume([entry({ pods: ['db/db-0'] })], { attachableNodes: ['n1', 'n2'] }),
      {},
      'this pod needs it there: db/db-0',
      `and switched off: kubectl taint node n1 '${TAINT}=nodeshutdown:NoExecute'`,
    ],
    [
      'a pause of the Node',
      volume([entry()]),
      { 'nodes/n1': nodeNamed('n1', { annotations: { 'stowage.dev/paused': '' } }) },
      'Node n1 is paused',
      'stowage resume node n1',
    ],
  ])('refuses a Volume that %s would keep attached', async (_, it, more, why, hint) => {
    const { code, out, err } = await stowage(DETACH, { objects: { 'volumes/a': it, ...more } });
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toContain(`error: Volume a stays attached to node n1: ${why}`);
    expect(err).toContain(hint);
  });

  test('applies the default policy Always only to the node of the storage', async () => {
    const { attachPolicy: _, ...spec } = volume([]).spec;
    const home = { ...volume([entry()]), spec };
    expect(await stowage(DETACH, { objects: { 'volumes/a': home } })).toMatchObject({ code: 5 });
    const moved = {
      ...home,
      status: { ...home.status, prepared: { node: 'n2', paths: [], identity: '' } },
    };
    const detached: Volume = { ...moved, status: { attachments: [] } };
    const events: WatchEvent[] = [{ type: 'MODIFIED', object: detached }];
    expect(await stowage(DETACH, { objects: { 'volumes/a': moved }, events })).toMatchObject({
      code: 0,
    });
  });

  test('is refused if a pod needs the Volume meanwhile', async () => {
    const { code, err } = await stowage(DETACH, {
      objects: { 'volumes/a': volume([entry()]) },
      events: [modified([entry({ pods: ['db/late'] })], '2')],
    });
    expect(code).toBe(5);
    expect(err).toContain('this pod needs it there: db/late');
  });

  test('exits with 3 if the Volume is not attached to the node', async () => {
    const elsewhere = volume([entry({ node: 'n2' })]);
    const { code, err } = await stowage(DETACH, { objects: { 'volumes/a': elsewhere } });
    expect(code).toBe(3);
    expect(err).toBe(
      'error: Volume a is not attached to node n1\nhint: It is attached to n2 (Attached).\n',
    );
    expect(await stowage(DETACH, { objects: {} })).toMatchObject({ code: 3 });
  });

  test('times out after --timeout, with the last state', async () => {
    const clock = new FakeClock();
    const held = volume([entry({ state: 'Detaching', message: '/srv/x is mounted' })]);
    const running = stowage([...DETACH, '--timeout', '10s'], {
      objects: { 'volumes/a': held },
      clock,
    });
    await clock.advance(10_000);
    const { code, err } = await running;
    expect(code).toBe(6);
    expect(err).toContain(
      'error: Volume a is still attached to node n1 after 10 s: Detaching: /srv/x is mounted\n',
    );
    expect(err).toContain(
      'The daemon continues it. Find out what holds it up: stowage why volume a',
    );
  });

  test.each([[[]], [['--node', 'N1']], [['--node', 'n1', '--node', 'n2']]])(
    'with %j is wrong usage',
    async (flags) => {
      expect(await stowage(['detach', 'volume', 'a', ...flags])).toMatchObject({
        code: 2,
        requests: [],
      });
    },
  );
});

describe('detach volume --force', () => {
  const shared: Partial<VolumeSpec> = { attachableNodes: ['n1', 'n2'] };

  test.each<[string, Partial<VolumeSpec>, KubeNode, string, string]>([
    ['a node that is Ready', {}, node('True', 900), 'node n1 is Ready', `kubectl taint node n1 `],
    [
      'a taint on a node that is Ready',
      {},
      node('True', 900, true),
      `though it has the taint ${TAINT}`,
      'Delete the pods on that node, after which the volume is detached',
    ],
    [
      'a node NotReady for a moment',
      {},
      node('Unknown', 359),
      'NotReady for 5m59s',
      'Wait until that is 6',
    ],
    [
      'a node NotReady since an unknown time',
      {},
      node('False', undefined),
      'NotReady since an unknown time',
      'Wait',
    ],
    [
      'a node that never was Ready',
      {},
      node(undefined, undefined),
      'NotReady since an unknown time',
      'Wait',
    ],
    [
      'a node NotReady for long that shares its directory',
      shared,
      node('Unknown', 7200),
      'NotReady for 120m, and may still write',
      `kubectl taint node n1 '${TAINT}=nodeshutdown:NoExecute'`,
    ],
  ])('is refused for %s', async (_, spec, kubeNode, found, hint) => {
    const objects = { 'volumes/a': volume([entry()], spec), 'nodes/n1': kubeNode };
    const { code, err, requests } = await stowage([...DETACH, '--force', '--yes'], { objects });
    expect(code).toBe(5);
    expect(err).toContain('error: Volume a is not force-detached from node n1: ');
    expect(err).toContain(found);
    expect(err).toContain(hint);
    expect(writes(requests)).toEqual([]);
  });

  test.each<[string, number, number | undefined, number, string]>([
    ['a day ahead', 24, 0, 5, 'NotReady for 60s'],
    ['a day behind', -24, 0, 5, 'NotReady for 60s'],
    ['right, and a server that states no time', 0, undefined, 5, 'NotReady since an unknown time'],
    ['two hours behind, and a node NotReady for long', -2, 1, 0, 'NotReady for 61m'],
  ])('goes by the time of the API server, with a clock that is %s', async (_, ...row) => {
    const [lead, hours, code, found] = row;
    const clock = new FakeClock();
    clock.set(lead * HOUR);
    const serverTime = () => (hours === undefined ? undefined : NOW + hours * HOUR);
    const objects = { 'volumes/a': volume([entry()]), 'nodes/n1': node('Unknown', 60) };
    const result = await stowage([...DETACH, '--force'], { objects, clock, serverTime });
    expect(result.err).toContain(found);
    expect(result.code).toBe(code);
  });

  test('ignores the record of a foreign PersistentVolume of its name', async () => {
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

  test('is refused if nothing is attached, or if the Node may not be read', async () => {
    const nothing = { objects: { 'volumes/a': volume([]) } };
    expect(await stowage([...DETACH, '--force'], nothing)).toMatchObject({ code: 3 });
    const failures = { 'get nodes/n1': refusal(403) };
    const world: World = { objects: { 'volumes/a': volume([entry()]) }, failures };
    const { code, requests } = await stowage([...DETACH, '--force'], world);
    expect({ code, writes: writes(requests) }).toEqual({ code: 4, writes: [] });
  });

  test('needs confirmation that the machine is off for a shared directory', async () => {
    const objects = { 'volumes/a': volume([entry()], shared) };
    const { code, err, requests } = await stowage([...DETACH, '--force'], { objects });
    expect({ code, writes: writes(requests) }).toEqual({ code: 2, writes: [] });
    expect(err).toContain('two nodes write to one file');
    expect(await stowage([...DETACH, '--force', '--yes'], { objects })).toMatchObject({ code: 0 });
    const asked = await stowage([...DETACH, '--force'], { objects, tty: true, answers: [false] });
    expect(asked).toMatchObject({ code: 5, questions: ['Is the machine off?'] });
  });
});
