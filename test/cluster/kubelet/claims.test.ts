import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../../src/api/resources.ts';
import { isAllGone } from '../../support/all-gone.ts';
import type { Id } from '../../support/claim-objects.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { describeOrders } from './claims-orders.ts';
import { type ClaimsScene, startClaimsScene } from './claims-scene.ts';
import { type Mounted, NAMESPACE, type podsOf, reading, writing } from './pods.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

const mountedAs = (claim: string): Mounted => ({ claim, mode: 'Filesystem' });

describeAsRoot('claims of dynamic classes, with a real scheduler and a real kubelet', () => {
  let scene: ClaimsScene;
  let claims: ClaimsScene['claims'];
  let pods: ReturnType<typeof podsOf>;

  beforeAll(async () => {
    scene = await startClaimsScene();
    claims = scene.claims;
    pods = scene.podsIn(NAMESPACE);
    for (const name of ['prod', 'test']) await scene.createNamespace(name);
  }, 600_000);
  afterAll(() => scene?.stop());

  const nothingIsLeft = () => isAllGone(scene.client, scene.directory);

  test('provisions a volume for a pod, expands it, and deletes it with its claim', async () => {
    const word = randomUUID();
    const data = mountedAs('data');
    await claims.create(`${NAMESPACE}/data`);
    await pods.run('writes', [data], writing(data, word));
    const more = { spec: { resources: { requests: { storage: '400Mi' } } } };
    await scene.client.patch(PERSISTENT_VOLUME_CLAIMS, 'data', more, { namespace: NAMESPACE });
    await until('the claim has grown', async () => {
      const { status } = await claims.get(`${NAMESPACE}/data`);
      return /^(419430400|400Mi)$/.test(status?.capacity?.storage ?? '') || undefined;
    });
    expect((await pods.run('reads', [data], reading(data))).trimEnd()).toBe(word);
    await claims.remove(`${NAMESPACE}/data`);
    await nothingIsLeft();
  });

  test('leaves a pod unscheduled if no node has enough free storage', async () => {
    await claims.create(`${NAMESPACE}/large`, { resources: { requests: { storage: '100Gi' } } });
    await pods.create('waits', [mountedAs('large')], 'sleep infinity');
    await claims.isTold(`${NAMESPACE}/waits`, 'did not have enough free storage');
    expect((await scene.client.list(VOLUMES)).items).toEqual([]);
    await pods.remove('waits');
    await claims.remove(`${NAMESPACE}/large`);
  });

  describe('a snapshot of claim prod/foo', () => {
    const word = randomUUID();
    const dataSourceRef = {
      apiGroup: 'snapshot.storage.k8s.io',
      kind: 'VolumeSnapshot',
      name: 'foo-backup',
      namespace: 'prod',
    };
    const grantTo = async (namespace: string) => {
      const { exitCode } = await scene.stowage(
        'grant',
        'snapshot',
        'prod/foo-backup',
        '--to',
        namespace,
      );
      expect(exitCode).toBe(0);
    };

    beforeAll(async () => {
      await claims.create('prod/foo', { storageClassName: 'immediate' });
      const pv = await claims.isBound('prod/foo');
      const path = await scene.devices.mount(pv.spec.local?.path ?? '', 'foo');
      await writeFile(join(path, 'word'), `${word}\n`);
      const argv = ['create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait'];
      const { exitCode, stderr } = await scene.stowage(...argv);
      await scene.devices.unmount();
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    });
    afterAll(async () => {
      await claims.removeSnapshot('prod/foo-backup');
      await claims.remove('prod/foo');
      await nothingIsLeft();
    });

    test('is restored into another namespace once a ReferenceGrant allows it', async () => {
      const restored = mountedAs('foo-testing');
      await claims.create(`${NAMESPACE}/foo-testing`, {
        storageClassName: 'immediate',
        dataSourceRef,
      });
      await claims.isTold(`${NAMESPACE}/foo-testing`, "isn't allowed");
      await grantTo(NAMESPACE);
      const granted = Date.now();
      await claims.isBound(`${NAMESPACE}/foo-testing`);
      console.info(`bound ${Date.now() - granted} ms after the grant`);
      expect((await pods.run('restored', [restored], reading(restored))).trimEnd()).toBe(word);
      await claims.remove(`${NAMESPACE}/foo-testing`);
    });

    test('is a golden image: volumes restored in two namespaces are independent', async () => {
      const homes = [
        ['prod', 'foo'],
        ['test', 'golden'],
        [NAMESPACE, 'golden'],
      ] as const;
      for (const [namespace, claim] of homes.slice(1)) {
        await grantTo(namespace);
        await claims.create(`${namespace}/${claim}`, { dataSourceRef });
      }
      /** Runs a script in each namespace concurrently, while pods hold all volumes. */
      const inEach = (name: string, script: (mounted: Mounted, namespace: string) => string) =>
        Promise.all(
          homes.map(async ([namespace, claim]) => {
            const mounted = mountedAs(claim);
            const said = await scene
              .podsIn(namespace)
              .run(name, [mounted], script(mounted, namespace));
            return said.trimEnd();
          }),
        );
      await Promise.all(
        homes.map(([namespace, claim]) => scene.podsIn(namespace).start('holds', mountedAs(claim))),
      );
      expect(await inEach('reads', reading)).toEqual([word, word, word]);
      await inEach('writes', (mounted, namespace) => writing(mounted, namespace));
      expect(await inEach('reads-again', reading)).toEqual(homes.map(([namespace]) => namespace));
      for (const [namespace] of homes) {
        const { status } = await scene.podsIn(namespace).inPhase('holds', 'Running');
        expect(status?.phase).toBe('Running');
      }
      const volumes = homes.map(async ([namespace, claim]) => {
        const { spec } = await claims.get(`${namespace}/${claim}` satisfies Id);
        return spec.volumeName;
      });
      expect(new Set(await Promise.all(volumes)).size).toBe(homes.length);
      await Promise.all(homes.map(([namespace]) => scene.podsIn(namespace).remove('holds')));
      for (const [namespace, claim] of homes.slice(1)) await claims.remove(`${namespace}/${claim}`);
    });
  });

  describeOrders(() => scene);
});
