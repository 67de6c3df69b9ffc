import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Pod } from '../../src/api/core.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { CrashingWatchOptions } from '../support/crashing-watch.ts';
import { bundleDaemon, type Daemon, type DaemonProgram } from '../support/daemon.ts';
import { HELLO_DEFINITION, HELLO_POPULATOR, HELLOS, hello, helloReference } from '../support/hello.ts';
import { leftovers } from '../support/leftovers.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  startPopulationCluster,
} from '../support/population-cluster.ts';
import { seedOf } from '../support/random.ts';
import { describeAsRoot } from '../support/root.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** `npm run test:faults` has the time for every effect, before and after it. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const EACH = MANY ? 1 : 20;
/** The first of every twentieth effect follows from it. */
const SEED = seedOf();
/** The moment from which a volume is the claim's, among effects. */
const GIVES = 'client.patch persistentvolumes';

/**
 * A claim that a pod fills, and one that is deleted while its pod runs, on real loop devices: the daemon is a process, and kills
 * itself at an effect. In memory it is in daemon/populators-crash.test.ts.
 */
describeAsRoot('a claim that is filled, and one that is not, killed at every effect', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let cluster: PopulationCluster;
  let program: DaemonProgram;
  let mount: string;
  let serial = 0;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    disk = await ownFileSystem('xfs', 2n << 30n);
    mount = join(disk.path, 'mnt');
    await mkdir(mount);
    cluster = await startPopulationCluster({ mountsBelow: join(disk.path, 'kubelet') });
    const { client } = cluster;
    await cluster.createClass('immediate', {
      parameters: { directory: join(disk.path, 'volumes'), fsType: 'ext4' },
    });
    await client.create(POPULATOR_DEFINITIONS, HELLO_DEFINITION);
    await client.create(VOLUME_POPULATORS, HELLO_POPULATOR);
    for (const name of ['example', 'endless']) {
      await client.create(HELLOS, hello(name, NAMESPACE, name), { namespace: NAMESPACE });
    }
    const { run } = cluster.world;
    cluster.world.run = (pod) => (pod.spec.containers[0]?.args?.[1] === 'endless' ? undefined : run(pod));
    program = await bundleDaemon();
  });
  afterAll(async () => {
    await program?.remove();
    await cluster?.stop();
    await disk?.remove();
    await stopUdev?.();
  });

  const read = async (device: string): Promise<string> => {
    await execa('mount', ['-o', 'ro', device, mount]);
    try {
      return await readFile(join(mount, 'hello.txt'), 'utf8');
    } finally {
      await execa('umount', [mount]);
    }
  };

  /** The whole story. @returns the effects of the daemon that ran first */
  async function live(
    at: number | string = 0,
    when: CrashingWatchOptions['when'] = 'before',
  ): Promise<string[]> {
    const { client, kubeconfig } = cluster;
    const log = join(disk.path, `effects-${++serial}`);
    const options: CrashingWatchOptions = {
      ...{ kubeconfig, transport: 'local', nodes: ['n1', 'n2'], namespace: OWN, log, when },
      ...(typeof at === 'number' ? { effect: at } : { effect: 0, first: at }),
    };
    let daemon: Daemon = program.start(options);
    /** One that was killed is followed by one that does not crash. */
    const comes = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> =>
      until(what, async () => {
        if (daemon.process.exitCode !== null || daemon.process.signalCode !== null) {
          expect(await daemon.ended).toBe('SIGKILL');
          const { first: _, ...again } = options;
          daemon = program.start({ ...again, effect: 0 });
        }
        return look();
      });
    const nothingOfTheMachine = async () => {
      const own = [...(await cluster.all(PODS, OWN)), ...(await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN))];
      const held = (await cluster.all(PERSISTENT_VOLUME_CLAIMS, NAMESPACE)).filter(({ metadata }) =>
        metadata.finalizers?.some((each) => each.startsWith('stowage')),
      );
      return own.length + held.length === 0 || undefined;
    };
    const remove = (name: string) => client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
    const [filled, cancelled] = [`filled-${serial}`, `cancelled-${serial}`];
    try {
      await cluster.createClaim(cancelled, { dataSourceRef: helloReference('endless') });
      await comes('its pod runs', async () =>
        (await cluster.all<Pod>(PODS, OWN)).find(({ status }) => status?.phase === 'Running'),
      );
      await cluster.createClaim(filled);
      const bound = await comes('the claim is bound', async () => {
        const claim = await cluster.claimNow(filled);
        return claim.status?.phase === 'Bound' ? claim : undefined;
      });
      const uids = (await cluster.all(VOLUMES)).map(({ metadata }) => metadata.uid ?? '');
      expect(uids).toHaveLength(2);
      await remove(cancelled);
      await comes('nothing of the machine is left', nothingOfTheMachine);
      await comes('nothing of what was cancelled is left', async () => {
        const left = [...(await cluster.persistentVolumes()), ...(await cluster.all(VOLUMES))];
        return left.length === 2 || undefined;
      });
      const [pv] = await cluster.persistentVolumes();
      expect(pv?.spec.claimRef?.uid).toBe(bound.metadata.uid);
      expect(pv?.metadata.name).toBe(bound.spec.volumeName);
      expect(await read(pv?.spec.local?.path ?? '')).toBe('example');
      const finished = await cluster.eventsOf(filled);
      expect(
        finished.filter(({ reason }) => reason === 'PopulatorFinished').map(({ count }) => count),
      ).toEqual([1]);
      expect((await cluster.eventsOf(cancelled)).map(({ reason }) => reason)).not.toContain(
        'PopulatorFinished',
      );
      expect(cluster.faults).toEqual([]);

      await remove(filled);
      await comes('no object is left', async () => {
        const left = [
          ...(await cluster.persistentVolumes()),
          ...(await cluster.all(VOLUMES)),
          ...(await cluster.all(PERSISTENT_VOLUME_CLAIMS)),
        ];
        return left.length === 0 || undefined;
      });
      await daemon.stop();
      const directory = join(disk.path, 'volumes');
      const left = await leftovers({ uids, directories: [directory], client });
      // What others left on this machine is theirs.
      expect(left.filter((each) => [directory, ...uids].some((its) => each.includes(its)))).toEqual([]);
    } finally {
      daemon.process.kill('SIGKILL');
      await daemon.ended;
    }
    return (await readFile(log, 'utf8')).trim().split('\n');
  }

  test(`${MANY ? 'each' : 'every twentieth'} one, and around that which gives the volume away`, async () => {
    const effects = await live();
    const cases = effects
      .map((_, index) => index + 1)
      .filter((effect) => (effect + SEED) % EACH === 0)
      .flatMap((effect) =>
        (MANY ? (['before', 'after'] as const) : (['after'] as const)).map((when) => [effect, when] as const),
      );
    const around = [[GIVES, 'before'] as const, [GIVES, 'after'] as const];
    for (const [effect, when] of [...around, ...cases]) {
      try {
        const lived = await live(effect, when);
        if (effect === GIVES) expect(lived).toContain(GIVES);
      } catch (cause) {
        const name = typeof effect === 'number' ? effects[effect - 1] : '';
        const where = `seed ${SEED}, ${when} effect ${effect} ${name}`;
        throw new Error(`${where}: ${(cause as Error).message}`, { cause });
      }
    }
    console.info(`killed ${cases.length + 2} times, at ${effects.length}: ${effects.join(', ')}`);
  }, 3_600_000);
});
