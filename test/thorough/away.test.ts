import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { limitNodes } from '../../src/nodes/node-limiter.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { runController } from '../../src/workqueue/controller.ts';
import { createWorkQueue } from '../../src/workqueue/work-queue.ts';
import { memoryLogger } from '../support/logger.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { until } from '../support/until.ts';

/** Number of nodes of each kind: hanging and closed. */
const AWAY = 10;
const VOLUMES = 50;
const HEALTHY = 20;

describeAsRoot('unreachable nodes', () => {
  let sshd: Sshd;
  /** Accepts connections, but never responds. */
  let hung: Server;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    const names = Array.from({ length: AWAY }, (_, n) => [`hung${n}`, `closed${n}`]).flat();
    sshd = await startSshd({ nodes: ['healthy', ...names] });
    hung = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => hung.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    hung?.close();
    await sshd?.stop();
  });

  /**
   * Returns the duration of each Volume of the healthy node in ms, and the number of other Volumes
   * that ended meanwhile.
   */
  async function work(away: readonly string[]) {
    const { port } = hung.address() as AddressInfo;
    const shell = createSshShell({
      configFile: sshd.configFile,
      addressOf: (node) =>
        node.startsWith('hung') ? { port } : node.startsWith('closed') ? { port: 1 } : {},
    });
    const executor = createShellExecutor(limitNodes(shell, systemClock));
    const queue = createWorkQueue({
      clock: systemClock,
      random: Math.random,
      groupOf: (key) => key.split('/')[0] ?? '',
      perGroup: 10,
    });
    const begun = new Map<string, number>();
    const took = new Map<string, number>();
    const controller = runController({
      queue,
      clock: systemClock,
      logger: memoryLogger(),
      async reconcile(key) {
        for (let look = 0; look < 3; look++) {
          await executor.observe(key.split('/')[0] ?? '', [{ name: 'a', argv: ['true'] }]);
        }
        took.set(key, Date.now() - (begun.get(key) ?? 0));
        return undefined;
      },
    });
    for (const node of away) for (let n = 0; n < VOLUMES; n++) queue.add(`${node}/${n}`);
    for (let n = 0; n < HEALTHY; n++) {
      begun.set(`healthy/${n}`, Date.now());
      queue.add(`healthy/${n}`);
    }
    await until('the healthy node is done', async () => (took.size === HEALTHY ? true : undefined));
    const slowest = Math.max(...took.values());
    const stopped = controller.stop(0);
    await executor.close();
    await stopped;
    return slowest;
  }

  test(`${2 * AWAY} nodes with ${VOLUMES} Volumes each do not delay a healthy node`, async () => {
    const alone = await work([]);
    const away = Array.from({ length: AWAY }, (_, n) => [`hung${n}`, `closed${n}`]).flat();
    const among = await work(away);
    process.stderr.write(
      `away.test.ts: the slowest of ${HEALTHY} took ${alone} ms alone, ${among} ms among nodes away\n`,
    );
    // Starting 20 processes takes a moment. Waiting for one of them would take ten seconds.
    expect(among - alone).toBeLessThan(2000);
  });
});
