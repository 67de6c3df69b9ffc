import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'undici';
import type { KubeObject } from '../../../src/api/meta.ts';
import { DRIVER } from '../../../src/api/names.ts';
import { CSI_STORAGE_CAPACITIES, LEASES, NAMESPACES } from '../../../src/api/resources.ts';
import { bundleElectingDaemon, type DaemonProgram } from '../../support/daemon.ts';
import type { ElectingWatchOptions } from '../../support/electing-watch.ts';
import { inWorld, TIMING } from '../../support/election-world.ts';
import { heldLease } from '../../support/leading-lease.ts';
import { until } from '../../support/until.ts';

/**
 * Two daemons with one cluster and the same nodes. At most five tests run concurrently: jest's
 * `maxConcurrency`.
 */

let program: DaemonProgram<ElectingWatchOptions>;
beforeAll(async () => {
  program = await bundleElectingDaemon();
});
afterAll(() => program.remove());

test.concurrent('a follower takes over a killed leader’s jobs without submitting any twice', () =>
  inWorld(program, TIMING, async ({ start, create, leads, submitted, eachOnce, log }) => {
    const first = start();
    const holder = await leads();
    const second = start();
    await create('a', 'b');
    await submitted(first, 2);
    expect((await log()).filter(([pid]) => pid === second.process.pid)).toEqual([]);
    first.process.kill('SIGKILL');
    await create('c');
    await leads(holder);
    await submitted(second, 1);
    await until('the second polls the jobs', async () =>
      (await log()).some(([pid, what]) => pid === second.process.pid && what === 'poll')
        ? true
        : undefined,
    );
    await eachOnce(3);
  }));

test.concurrent('a leader cut off from the API server stops before the follower takes over', () =>
  inWorld(program, TIMING, async ({ start, create, leads, submitted, eachOnce, log }) => {
    const first = start();
    const holder = await leads();
    const second = start();
    await create('a', 'b');
    await submitted(first, 2);
    first.process.kill('SIGUSR2');
    await create('c');
    await leads(holder);
    expect(await first.ended).toBe('1');
    await submitted(second, 1);
    await eachOnce(3);
    const pids = (await log()).map(([pid]) => pid);
    expect(pids.lastIndexOf(first.process.pid ?? 0)).toBeLessThan(
      pids.indexOf(second.process.pid ?? 0),
    );
  }));

test.concurrent('a leader releases the Lease on SIGTERM, and the follower takes over at once', () =>
  inWorld(
    program,
    // An expiry of this Lease would take longer than the test.
    { leaseDurationMs: 600_000, renewDeadlineMs: 300_000, retryPeriodMs: 100_000 },
    async ({ start, create, leads, says, submitted, eachOnce, log }) => {
      const first = start();
      const holder = await leads();
      const second = start();
      await create('a', 'b');
      await submitted(first, 2);
      await says(second, 'standing by: another process leads');
      first.process.kill('SIGTERM');
      expect(await first.ended).toBe('0');
      await create('c');
      await leads(holder);
      await submitted(second, 1);
      await eachOnce(3);
      const writes = (await log()).filter(([pid]) => pid === first.process.pid);
      expect(writes.at(-1)?.[1]).toMatch(/^PATCH .*\/leases\/stowage/);
    },
  ));

test.concurrent('leader and follower are ready, and log lines name reconcile, Volume and job', () =>
  inWorld(program, TIMING, async ({ start, create, leads, says, submitted }) => {
    const first = start();
    await leads();
    const second = start();
    for (const daemon of [first, second]) {
      const serving = (await says(daemon, 'serving HTTP')).find(
        ({ msg }) => msg === 'serving HTTP',
      );
      const ask = async (path: string) => {
        const { statusCode, body } = await request(`http://127.0.0.1:${serving?.port}${path}`);
        return `${statusCode} ${await body.text()}`;
      };
      expect(await ask('/healthz')).toBe('200 ok\n');
      const answer = await until('the daemon is ready', async () => {
        const text = await ask('/readyz');
        return text.startsWith('200') ? text : undefined;
      });
      for (const source of ['nodes', 'volumes', 'persistentvolumes', 'storageclasses', 'lease']) {
        expect(answer).toContain(`[+]${source} ok`);
      }
    }
    await create('a');
    await submitted(first, 1);
    const told = (await says(first, 'status')).filter(({ volume }) => volume === 'a');
    expect(told[0]).toMatchObject({
      phase: 'Pending',
      job: 'PrepareVolume/1',
      uid: expect.any(String),
    });
    expect(told[0]?.reconcile).toMatch(/^[0-9a-f]{8}$/);
    expect(
      (await says(second, 'standing by: another process leads')).map(({ msg }) => msg),
    ).not.toContain('watching');
  }));

test.concurrent('a leader warns of one in another namespace, and removes stale capacities', () =>
  inWorld(program, TIMING, async ({ client, start, leads, says }) => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } };
    await client.create<KubeObject>(NAMESPACES, namespace);
    const lease = heldLease();
    await client.create(LEASES, {
      ...lease,
      metadata: { ...lease.metadata, namespace: 'other' },
    });
    await client.create<KubeObject>(NAMESPACES, { ...namespace, metadata: { name: 'left' } });
    const labels = {
      'app.kubernetes.io/managed-by': 'stowage',
      'csi.storage.k8s.io/drivername': DRIVER,
    };
    for (const namespace of ['default', 'left', 'other']) {
      const capacity = {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIStorageCapacity',
        metadata: { name: `of-${namespace}`, labels },
        storageClassName: 'x',
      };
      await client.create<KubeObject>(CSI_STORAGE_CAPACITIES, capacity, { namespace });
    }
    const capacities = async () =>
      (await client.list<KubeObject>(CSI_STORAGE_CAPACITIES)).items.map(
        ({ metadata }) => metadata.name,
      );
    const daemon = start();
    await leads();
    const said =
      'another daemon leads, too: stop one of them, or give both the same --leader-election-namespace';
    const lines = await says(daemon, said);
    expect(lines.find(({ msg }) => msg === said)).toMatchObject({
      level: 'warn',
      lease: 'other/stowage',
      holder: 'host_1',
    });
    // Capacities of a namespace without a leader would mislead the scheduler, as no daemon updates
    // them.
    await until('the capacities are removed', async () =>
      (await capacities()).includes('of-left') ? undefined : true,
    );
    expect(await capacities()).toEqual(expect.arrayContaining(['of-default', 'of-other']));
  }));
