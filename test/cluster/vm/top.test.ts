import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { expectSchema } from '../../support/output-page.ts';
import { until } from '../../support/until.ts';
import { podsOf } from '../kubelet/pods.ts';
import { type Scene, startSceneOn } from '../kubelet/scene.ts';
import { volumesOf } from '../kubelet/volumes.ts';
import { type KubeletClient, newKubeletClient } from './kubelet-client.ts';
import { placesIn, startVmNode, type VmMachine, withLogs } from './kubelet-scene.ts';
import type { Kind } from './places.ts';
import { CONVERGES_WITHIN } from './scene.ts';

/** Timeout in ms: a kubelet measures file systems about once per minute. */
jest.setTimeout(1_200_000);

const MIB = 1024 ** 2;

let client: KubeletClient;
let scene: Scene<VmMachine>;
let volumes: ReturnType<typeof volumesOf<Kind>>;

beforeAll(async () => {
  client = await newKubeletClient();
  const { apiServerFlags, server } = client;
  scene = await startSceneOn('vm1', (...node) => startVmNode(...node, server), [], {
    apiServerFlags,
  });
  await client.forward(scene.machine.vm);
  volumes = volumesOf(scene, placesIn(scene), CONVERGES_WITHIN);
}, 1_800_000);
afterAll(async () => {
  await scene?.stop();
  await client?.stop();
});

test('top shows what a pod wrote, by the kubelet and on disk', () =>
  withLogs(scene, async () => {
    const pods = podsOf(scene.client, undefined, CONVERGES_WITHIN);
    const { metadata } = await volumes.create('sparse file');
    const { name } = metadata;
    const mounted = await pods.claim(name, name, 'Filesystem');
    const write = `dd if=/dev/urandom of=/volumes/${name}/data bs=1M count=20 && sync`;
    await pods.create(`${name}-writes`, [mounted], `${write}; sleep infinity`);
    await pods.inPhase(`${name}-writes`, 'Running');

    const top = async () => {
      const flags = ['-o', 'json', ...scene.machine.reachedBy];
      const { exitCode, stdout, stderr } = await scene.stowage('top', 'volumes', name, ...flags);
      expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
        exitCode: 0,
        stderr: '',
      });
      return JSON.parse(stdout);
    };
    const row = await until(
      `the kubelet measured 20 MiB on ${name}`,
      async () => {
        const found = await top();
        return found.used?.bytes >= 20 * MIB ? found : undefined;
      },
      300_000,
    );
    expectSchema('usage', row);
    expect(row).toMatchObject({ name, uid: metadata.uid, node: 'vm1' });
    expect(row.used.bytes).toBeLessThan(40 * MIB);
    expect(row.used.capacityBytes).toBeLessThanOrEqual(row.sizeBytes);
    expect(row.onDiskBytes).toBeGreaterThanOrEqual(20 * MIB);
    expect(row.onDiskBytes).toBeLessThan(row.sizeBytes);

    await pods.remove(`${name}-writes`);
    await pods.unclaim(name);
    await volumes.remove(name);
  }));
