import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { Backing } from '../../support/kinds.ts';
import { expectSchema } from '../../support/output-page.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { type KubeletClient, newKubeletClient } from './kubelet-client.ts';
import { placesHere } from './places.ts';
import { podsOf } from './pods.ts';
import { type Scene, startSceneOn, startThisMachine, type ThisMachine } from './scene.ts';
import { volumesOf } from './volumes.ts';

/** Timeout in ms: a kubelet measures file systems about once per minute. */
jest.setTimeout(600_000);

const MIB = 1024 ** 2;

describeAsRoot('stowage top with a real kubelet', () => {
  let client: KubeletClient;
  let scene: Scene<ThisMachine>;
  let volumes: ReturnType<typeof volumesOf<Backing>>;

  beforeAll(async () => {
    client = await newKubeletClient();
    const { apiServerFlags, clientCa } = client;
    scene = await startSceneOn(
      'n1',
      (controlPlane, node) => startThisMachine(controlPlane, node, clientCa),
      [],
      { apiServerFlags },
    );
    volumes = volumesOf(scene, placesHere(scene), 300_000);
  }, 600_000);
  afterEach(() => volumes?.clean());
  afterAll(async () => {
    await scene?.stop();
    await client?.remove();
  });

  test('shows what a pod wrote, by the kubelet and on disk', async () => {
    const pods = podsOf(scene.client);
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
    expect(row).toMatchObject({ name, uid: metadata.uid, node: 'n1' });
    expect(row.used.bytes).toBeLessThan(40 * MIB);
    expect(row.used.capacityBytes).toBeLessThanOrEqual(row.sizeBytes);
    expect(row.onDiskBytes).toBeGreaterThanOrEqual(20 * MIB);
    expect(row.onDiskBytes).toBeLessThan(row.sizeBytes);

    await pods.remove(`${name}-writes`);
    await pods.unclaim(name);
    await volumes.remove(name);
  });
});
