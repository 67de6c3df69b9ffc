/**
 * `npm run bench -- one-volume`: one sparse ext4 Volume of 1 GiB over ssh, from its creation to Available, beside the very
 * commands of its plan typed over ssh: one call with all of them, without what Stowage looks at before and after. Once with a
 * connection of its own, as typed, and once over one that is open, as the daemon has it. They take turns; figures are medians.
 * The node is this machine, by an sshd on loopback; that takes root, loop devices and udev.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { execa } from 'execa';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { systemClock } from '../../src/control/clock.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { waitFor } from '../../src/kube/wait.ts';
import { sparseVolume } from '../support/cluster.ts';
import { startSandboxApi } from './api-servers.ts';
import { median, ms, say, times } from './figures.ts';
import { withDaemonOverSsh } from './over-ssh.ts';
import { typedVolume } from './typed-volume.ts';

const ROUNDS = 11;
const NODE = 'n1';

await withDaemonOverSsh(NODE, startSandboxApi, async ({ client, sshConfig, folder, atEnd }) => {
  const ssh = ['-F', sshConfig];
  const open = [...ssh, '-o', `ControlPath=${join(folder, 'socket')}`];
  await execa('ssh', [...open, '-o', 'ControlMaster=yes', '-o', 'ControlPersist=600', NODE, 'true'], {
    stdio: 'ignore',
  });
  atEnd(() => execa('ssh', [...open, '-O', 'exit', NODE], { stdio: 'ignore', reject: false }));
  await compare([() => stowage(client), () => typed(ssh), () => typed(open)]);
});

/** @param ways each makes a volume and removes it, and returns how long the making took, in ms */
async function compare(ways: (() => Promise<number>)[]): Promise<void> {
  const taken = ways.map((): number[] => []);
  // The first round opens connections and fills caches, and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, way] of ways.entries()) {
      const took = await way();
      if (round > 0) taken[index]?.push(took);
    }
  }
  const [made = Number.NaN, typedAnew = Number.NaN, typedOver = Number.NaN] = taken.map(median);
  console.log(`one sparse ext4 Volume of 1 GiB over ssh; medians of ${ROUNDS} rounds`);
  say('Stowage', ms(made));
  say('typed, a connection each', ms(typedAnew), `${times(made / typedAnew)} it`);
  say('typed, over an open one', ms(typedOver), `${times(made / typedOver)} it`);
}

async function stowage(client: KubeClient): Promise<number> {
  const name = `bench-${randomUUID().slice(0, 8)}`;
  const wait = (until: (volume: Volume | undefined) => boolean) =>
    waitFor<Volume>(client, VOLUMES, name, { until, timeoutMs: 60_000, clock: systemClock });
  const available = wait((volume) => volume?.status?.phase === 'Available');
  const began = performance.now();
  await client.create(VOLUMES, sparseVolume(name, NODE, '1Gi'));
  await available;
  const took = performance.now() - began;
  await client.delete(VOLUMES, name);
  await wait((volume) => volume === undefined);
  return took;
}

async function typed(ssh: readonly string[]): Promise<number> {
  // Whoever types knows a free one.
  const { stdout: loop } = await execa('losetup', ['-f']);
  const { make, remove } = typedVolume(randomUUID(), loop);
  try {
    const began = performance.now();
    await execa('ssh', [...ssh, NODE, make]);
    return performance.now() - began;
  } finally {
    await execa('ssh', [...ssh, NODE, remove]);
  }
}
