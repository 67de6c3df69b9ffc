/**
 * `npm run bench:cluster -- cluster-one-volume`: one sparse ext4 Volume of 1 GiB over ssh on a real API server, from its
 * creation to Available, split by what its status tells of it. Beside it mkfs alone. Figures are medians.
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
import { startRealApi } from './api-servers.ts';
import { median, ms, say } from './figures.ts';
import { withDaemonOverSsh } from './over-ssh.ts';

const ROUNDS = 11;
const NODE = 'n1';

/** Each from the end of the one before, in ms. */
interface Phases {
  /** Until its attempt is stored. */
  accepted: number;
  /** Until the node has made and attached it, and it was looked at. */
  made: number;
  /** Until there is its PersistentVolume, and it was looked at again. */
  announced: number;
}

await withDaemonOverSsh(NODE, startRealApi, async ({ client, folder }) => {
  const phases: Phases[] = [];
  const mkfs: number[] = [];
  // The first round opens connections and fills caches, and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    const each = await oneVolume(client);
    const alone = await mkfsAlone(join(folder, 'file'));
    if (round === 0) continue;
    phases.push(each);
    mkfs.push(alone);
  }
  const of = (figure: (each: Phases) => number) => ms(median(phases.map(figure)));
  console.log(`one sparse ext4 Volume of 1 GiB over ssh; medians of ${ROUNDS} rounds`);
  say(
    'create to Available',
    of(({ accepted, made, announced }) => accepted + made + announced),
  );
  say(
    '  its attempt stored',
    of(({ accepted }) => accepted),
  );
  say(
    '  made on the node',
    of(({ made }) => made),
  );
  say(
    '  PersistentVolume, look',
    of(({ announced }) => announced),
  );
  say('mkfs alone', ms(median(mkfs)));
});

async function oneVolume(client: KubeClient): Promise<Phases> {
  const name = `bench-${randomUUID().slice(0, 8)}`;
  const when = async (until: (volume: Volume | undefined) => boolean) => {
    await waitFor<Volume>(client, VOLUMES, name, { until, timeoutMs: 60_000, clock: systemClock });
    return performance.now();
  };
  const told = Promise.all([
    when((volume) => volume?.status?.attempt !== undefined),
    when((volume) => volume?.status?.job === 'PrepareVolume/DONE'),
    when((volume) => volume?.status?.phase === 'Available'),
  ]);
  const began = performance.now();
  await client.create(VOLUMES, sparseVolume(name, NODE, '1Gi'));
  const [attempt, done, available] = await told;
  await client.delete(VOLUMES, name);
  await when((volume) => volume === undefined);
  return { accepted: attempt - began, made: done - attempt, announced: available - done };
}

async function mkfsAlone(file: string): Promise<number> {
  await execa('truncate', ['-s', '1G', file]);
  const began = performance.now();
  await execa('mkfs.ext4', ['-q', '-F', file]);
  const took = performance.now() - began;
  await execa('rm', [file]);
  return took;
}
