import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bundleElectingDaemon, type Daemon, type DaemonProgram } from '../../support/daemon.ts';
import type { ElectingWatchOptions } from '../../support/electing-watch.ts';
import { inWorld, TIMING } from '../../support/election-world.ts';
import { until } from '../../support/until.ts';

/** A leader that does not run for a while, without noticing. */

let program: DaemonProgram<ElectingWatchOptions>;
beforeAll(async () => {
  program = await bundleElectingDaemon();
});
afterAll(() => program.remove());

const isStopped = async ({ process: { pid } }: Daemon) =>
  until(`${pid} is stopped`, async () =>
    / \(.*\) T /.test(await readFile(`/proc/${pid}/stat`, 'utf8')) ? true : undefined,
  );

test.concurrent.each(['poll', 'submit', 'renewal'] as const)(
  'a leader stopped in a %s for longer than its Lease does nothing when resumed, and exits',
  (stopIn) =>
    inWorld(program, TIMING, async ({ start, create, leads, submitted, eachOnce, log }) => {
      const first = start({ stopIn });
      const holder = await leads();
      const second = start();
      await create('a');
      await isStopped(first);
      // The leader observes these when it continues.
      await create('b', 'c');
      await leads(holder);
      // The first daemon may have been stopped before it submitted a job.
      await submitted(second, (await log()).some(([, what]) => what.startsWith('submit ')) ? 2 : 3);
      const before = (await log()).filter(([pid]) => pid === first.process.pid);
      first.process.kill('SIGCONT');
      expect(await first.ended).toBe('1');
      expect((await log()).filter(([pid]) => pid === first.process.pid)).toEqual(before);
      await eachOnce(3);
    }),
);
