/**
 * `npm run bench -- one-volume`: one sparse ext4 Volume of 1 GiB over ssh, from its creation to
 * Available. For comparison, the commands of its plan run over ssh in a single call, without
 * Stowage's observations. They run once over a new connection, as typed, and once over an open one,
 * as the daemon has.
 *
 * The variants take turns; figures are medians. The node is this machine, through an sshd on
 * loopback. Requires root, loop devices and udev.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { execa } from 'execa';
import { connect } from '../../src/kube/connect.ts';
import { createNode } from '../support/claim-objects.ts';
import { startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { median, ms, printFigures, times } from './figures.ts';
import { createClass, makeVolume } from './make-volume.ts';
import { start, startSandbox } from './processes.ts';
import { typedVolume } from './typed-volume.ts';

const ROUNDS = 11;
const NODE = 'n1';

if (process.getuid?.() === 0) await run();
else console.log('one-volume is left out: it takes root, for loop devices, udev and sshd');

async function run(): Promise<void> {
  const cleanUps: (() => Promise<unknown>)[] = [];
  try {
    const folder = await temporaryDirectory('bench');
    cleanUps.push(() => folder.remove());
    cleanUps.push(await ensureUdev());
    const sshd = await startSshd({ nodes: [NODE] });
    cleanUps.push(() => sshd.stop());
    const kubeconfig = join(folder.path, 'kubeconfig');
    const sandbox = await startSandbox(kubeconfig);
    cleanUps.push(() => sandbox.stop());
    const { client } = await connect({ kubeconfig });
    await createClass(client);
    await createNode(client, NODE);
    const daemon = start('bin/stowage', [
      'watch',
      '--kubeconfig',
      kubeconfig,
      '--ssh-config',
      sshd.configFile,
    ]);
    cleanUps.push(() => daemon.stop());

    const ssh = ['-F', sshd.configFile];
    const open = [...ssh, '-o', `ControlPath=${join(folder.path, 'socket')}`];
    await execa(
      'ssh',
      [...open, '-o', 'ControlMaster=yes', '-o', 'ControlPersist=600', NODE, 'true'],
      {
        stdio: 'ignore',
      },
    );
    cleanUps.push(() =>
      execa('ssh', [...open, '-O', 'exit', NODE], { stdio: 'ignore', reject: false }),
    );
    await compare([
      async () => (await makeVolume(client, NODE)).ms,
      () => typed(ssh),
      () => typed(open),
    ]);
  } finally {
    for (const undo of cleanUps.reverse()) await undo().catch(console.error);
  }
}

/** @param ways each creates and removes a volume, and returns the time (ms) of the creation */
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
  printFigures('Stowage', ms(made));
  printFigures('typed, a connection each', ms(typedAnew), `${times(made / typedAnew)} it`);
  printFigures('typed, over an open one', ms(typedOver), `${times(made / typedOver)} it`);
}

async function typed(ssh: readonly string[]): Promise<number> {
  // The search for a free loop device is not measured.
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
