import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolumeClaim, Pod } from '../../src/api/core.ts';
import {
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { until } from '../support/until.ts';
import { onNode, pvOf, ready } from '../support/volumes.ts';

let cluster: TestCluster;
let folder = '';
let env: Record<string, string> = {};

beforeAll(async () => {
  cluster = await startCluster();
  folder = await mkdtemp(join(tmpdir(), 'stowage-reading-'));
  env = { KUBECONFIG: cluster.kubeconfig, HOME: folder };
});

afterAll(async () => {
  await cluster.stop();
  await rm(folder, { recursive: true });
});

const stowage = (...argv: string[]) => execa('bin/stowage', argv, { env, reject: false });

const setStatus = (name: string, status: object) =>
  cluster.client.patch<Volume>(VOLUMES, name, { status }, { subresource: 'status' });

test('`get -w` prints a row for each change of a listed Volume until interrupted', async () => {
  const { client } = cluster;
  await client.create(VOLUMES, sparseVolume('w1', 'n1', '1Gi'));
  const watching = stowage('get', 'volumes', '-w', '--node', 'n1');
  const rows = createInterface(watching.stdout)[Symbol.asyncIterator]();
  const next = async () => ((await rows.next()).value ?? '').split(/ +/).slice(0, 5).join(' ');

  expect(await next()).toBe('NAME NODE PHASE READY DEVICE');
  expect(await next()).toBe('w1 n1 Unknown <none> <none>');
  await setStatus('w1', { phase: 'Available', deviceName: 'loop3' });
  expect(await next()).toBe('w1 n1 Available <none> loop3');
  await client.create(VOLUMES, sparseVolume('w2', 'n2', '1Gi'));
  await client.create(VOLUMES, sparseVolume('w3', 'n1', '1Gi'));
  expect(await next()).toBe('w3 n1 Unknown <none> <none>');
  await client.delete(VOLUMES, 'w1');
  expect(await next()).toBe('w1 n1 Gone <none> loop3');

  watching.kill('SIGINT');
  expect(await watching).toMatchObject({ exitCode: 130, stderr: '' });
});

test('describe shows a Volume down to the pods that use it', async () => {
  const { client } = cluster;
  const { metadata } = await client.create(VOLUMES, sparseVolume('d1', 'n1', '1Gi'));
  const volume = await setStatus('d1', { phase: 'Available', ...ready('True', 'Available') });
  const pv = pvOf(volume);
  await client.create(PERSISTENT_VOLUMES, {
    ...pv,
    spec: {
      ...pv.spec,
      storageClassName: 'local',
      local: { path: '/dev/disk/by-uuid/x' },
      nodeAffinity: onNode('n1'),
    },
  });
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-0', namespace: 'default' },
    spec: {
      volumeName: 'd1',
      storageClassName: 'local',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    },
  };
  await client.create(PERSISTENT_VOLUME_CLAIMS, claim);
  const pod = (name: string, claimName: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    },
  });
  await client.create<Pod>(PODS, pod('db-0', 'data-0'));
  await client.create<Pod>(PODS, pod('other', 'data-1'));
  await client.create(EVENTS, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'd1.1', namespace: 'default' },
    involvedObject: { kind: 'Volume', name: 'd1', uid: metadata.uid },
    type: 'Normal',
    reason: 'StateTransition',
    message: 'Volume d1 changed from Pending to Available',
    count: 1,
    lastTimestamp: new Date().toISOString(),
  } as never);
  await until('the claim is bound', async () => {
    const { status } = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, 'data-0', {
      namespace: 'default',
    });
    return status?.phase === 'Bound' || undefined;
  });

  const { exitCode, stdout, stderr } = await stowage('describe', 'vol', 'd1');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^ {2}Claim: +default\/data-0$/m);
  expect(stdout).toMatch(/^ {2}Used by: +pod db-0 \(Pending\) on node n1$/m);
  expect(stdout).not.toContain('other');
  expect(stdout).toMatch(
    /Normal +StateTransition +\d+s +<none> +Volume +Volume d1 changed from Pending to Available$/m,
  );

  const { stdout: why } = await stowage('why', 'volume/d1');
  expect(why).toBe(
    'Volume d1 is Available: nothing holds it up; it is bound to the claim default/data-0',
  );
});

test('`why` reports a Volume that no daemon has observed, also as a kubectl plugin', async () => {
  await cluster.client.create(VOLUMES, sparseVolume('y1', 'n1', '1Gi'));
  const ours = await stowage('why', 'volume', 'y1', '-o', 'json');
  expect(ours.exitCode).toBe(0);
  expect(JSON.parse(ours.stdout)).toMatchObject({
    holdup: expect.stringContaining('no daemon has observed it yet'),
    fix: { run: ['stowage watch'] },
  });

  await symlink(resolve('bin/stowage'), join(folder, 'kubectl-stowage'));
  const plugin = await execa('kubectl', ['stowage', 'why', 'vol/y1', '-o', 'json'], {
    env: { ...env, PATH: `${folder}:${process.env.PATH}` },
  });
  expect(JSON.parse(plugin.stdout).holdup).toBe(JSON.parse(ours.stdout).holdup);
  expect(await stowage('why', 'volume', 'none')).toMatchObject({ exitCode: 3, stdout: '' });
});
