import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../src/api/resources.ts';
import { type Crash, crashAtEach, crashScene } from '../support/crash-scene.ts';
import { helloReference } from '../support/hello.ts';
import { leftovers } from '../support/leftovers.ts';
import { NAMESPACE, OWN, startPopulationCluster } from '../support/population-cluster.ts';
import { describeAsRoot } from '../support/root.ts';

/** The effect that assigns a volume to the claim. */
const GIVES = 'client.patch persistentvolumes';

/**
 * A claim that a pod populates, and a claim that is deleted while its pod runs, on real loop
 * devices. The daemon is a process that kills itself at an effect. daemon/populators-crash.test.ts
 * runs in memory.
 */
describeAsRoot('a claim that is populated, and one that is canceled', () => {
  const scene = crashScene(
    async (folder) => {
      const cluster = await startPopulationCluster({ mountsBelow: join(folder, 'kubelet') });
      const parameters = { directory: join(folder, 'volumes'), fsType: 'ext4' };
      await cluster.createClass('immediate', { parameters });
      await cluster.register();
      for (const name of ['example', 'endless']) await cluster.createHello(name, name);
      const { run } = cluster.world;
      cluster.world.run = (pod) =>
        pod.spec.containers[0]?.args?.[1] === 'endless' ? undefined : run(pod);
      return cluster;
    },
    { nodes: ['n1', 'n2'], namespace: OWN },
  );
  let serial = 0;

  const live = (crash?: Crash) =>
    scene.live(crash, async ({ comes, stop }) => {
      const { cluster } = scene;
      const { client } = cluster;
      const [filled, cancelled] = [`filled-${++serial}`, `cancelled-${serial}`];
      const remove = (name: string) =>
        client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
      const volumesLeft = async () =>
        [...(await cluster.persistentVolumes()), ...(await cluster.all(VOLUMES))].length;

      await cluster.createClaim(cancelled, { dataSourceRef: helloReference('endless') });
      await comes('the populator pod runs', () => cluster.runningPod());
      await cluster.createClaim(filled);
      const bound = await comes('the claim is bound', async () => {
        const claim = await cluster.claimNow(filled);
        return claim.status?.phase === 'Bound' ? claim : undefined;
      });
      const uids = (await cluster.all(VOLUMES)).map(({ metadata }) => metadata.uid ?? '');
      expect(uids).toHaveLength(2);
      await remove(cancelled);
      await comes('no object of the populator is left', cluster.isCleanNow);
      await comes(
        'no volume of the canceled claim is left',
        async () => (await volumesLeft()) === 2 || undefined,
      );
      const [pv] = await cluster.persistentVolumes();
      expect(pv?.spec.claimRef?.uid).toBe(bound.metadata.uid);
      expect(pv?.metadata.name).toBe(bound.spec.volumeName);
      const read = (path: string) => readFile(join(path, 'hello.txt'), 'utf8');
      expect(await scene.mounted(pv?.spec.local?.path ?? '', read)).toBe('example');
      const finished = async (name: string) =>
        (await cluster.eventsOf(name)).filter(({ reason }) => reason === 'PopulatorFinished');
      expect((await finished(filled)).map(({ count }) => count)).toEqual([1]);
      expect(await finished(cancelled)).toEqual([]);
      expect(cluster.faults).toEqual([]);

      await remove(filled);
      await comes('no object is left', async () => {
        const claims = await cluster.all(PERSISTENT_VOLUME_CLAIMS);
        return (await volumesLeft()) + claims.length === 0 || undefined;
      });
      await stop();
      const directory = join(scene.folder, 'volumes');
      const left = await leftovers({ uids, directories: [directory], client });
      // Ignore what other tests left on this machine.
      expect(left.filter((each) => [directory, ...uids].some((its) => each.includes(its)))).toEqual(
        [],
      );
    });

  test('converges after a crash at every (20th) effect, and around the rebind', async () => {
    const around = (['before', 'after'] as const).map((when) => ({ at: GIVES, when }));
    await crashAtEach(20, live, around);
  }, 3_600_000);
});
