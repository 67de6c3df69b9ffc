/**
 * `npm run bench:cluster`: benchmarks on a real API server. First: 200 concurrent Volumes on nodes
 * in memory that run jobs at once. Then: one sparse ext4 Volume of 1 GiB on this machine, over ssh
 * and over Salt. Its time from creation to Available is split by the phases of the daemon.
 *
 * Requires root, loop devices and udev. Builds Kubernetes and Salt if they are not in the cache.
 */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { CRDS } from '../../src/api/crds.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, VOLUMES } from '../../src/api/resources.ts';
import { connect } from '../../src/kube/connect.ts';
import { SPARSE_DIRECTORY } from '../../src/storage/loopfile/file.ts';
import { startControlPlane } from '../cluster/control-plane/control-plane.ts';
import { flagsFor, startSalt } from '../cluster/salt/salt.ts';
import { createNode } from '../support/claim-objects.ts';
import { startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';
import { atOnce, type Round, showRounds } from './at-once.ts';
import { median, ms, printFigures } from './figures.ts';
import { createClass, makeVolume } from './make-volume.ts';
import { type Phases, phasesOf } from './phases.ts';
import { bundle, start } from './processes.ts';

const COUNT = 200;
const ROUNDS = 3;
const MADE = 11;
const NODE = 'n1';

const folder = await temporaryDirectory('bench');
try {
  await volumesAtOnce();
  const undoUdev = await ensureUdev();
  try {
    const sshd = await startSshd({ nodes: [NODE] });
    await oneVolume('ssh', ['--ssh-config', sshd.configFile]).finally(() => sshd.stop());
    const salt = await startSalt({ minions: [NODE] });
    await oneVolume('Salt', flagsFor(salt)).finally(() => salt.stop());
    printFigures('mkfs.ext4 of such a file', ms(await mkfs()));
  } finally {
    await undoUdev();
  }
} finally {
  await folder.remove();
}

/** Starts a real API server with the CRDs and the controllers that act on Volumes' objects. */
async function newCluster() {
  const controlPlane = await startControlPlane({
    controllers: ['persistentvolume-binder-controller', 'persistentvolume-protection-controller'],
  });
  const { client } = await connect({ kubeconfig: controlPlane.kubeconfig });
  for (const crd of CRDS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
  await until('Volumes are served', () =>
    client.list(VOLUMES).then(
      () => true as const,
      () => undefined,
    ),
  );
  return { controlPlane, client };
}

async function volumesAtOnce(): Promise<void> {
  const bundled = await bundle('working-daemon.ts', folder.path);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { controlPlane } = await newCluster();
    const { kubeconfig } = controlPlane;
    const serverPid = controlPlane.apiServerPid();
    rounds.push(
      await atOnce(COUNT, { bundled, kubeconfig, serverPid }).finally(() => controlPlane.stop()),
    );
  }
  showRounds(COUNT, 'API server', rounds);
}

async function oneVolume(transport: string, flags: readonly string[]): Promise<void> {
  const { controlPlane, client } = await newCluster();
  try {
    await createClass(client);
    await createNode(client, NODE);
    const log = join(folder.path, `${transport}.log`);
    const file = await open(log, 'w');
    const args = ['watch', '--verbose', '--kubeconfig', controlPlane.kubeconfig, ...flags];
    const daemon = start('bin/stowage', args, process.env, file.fd);
    const made: Awaited<ReturnType<typeof makeVolume>>[] = [];
    // The first round opens connections and fills caches, and does not count.
    for (let round = 0; round <= MADE; round++) made.push(await makeVolume(client, NODE));
    await daemon.stop();
    await file.close();
    const lines = await readFile(log, 'utf8');
    const phases = made.slice(1).map(({ name, asked, ms }) => phasesOf(lines, name, asked, ms));
    console.log(`\none sparse ext4 Volume of 1 GiB over ${transport}; medians of ${MADE} rounds`);
    printFigures('create to Available', ms(median(made.slice(1).map((each) => each.ms))));
    for (const phase of Object.keys(phases[0] ?? {}) as (keyof Phases)[]) {
      printFigures(`  ${phase}`, ms(median(phases.map((each) => each[phase]))));
    }
  } finally {
    await controlPlane.stop();
  }
}

/** Returns the time (ms) that the job's mkfs command takes on a file of the same size. */
async function mkfs(): Promise<number> {
  const file = join(SPARSE_DIRECTORY, 'bench');
  const taken: number[] = [];
  try {
    for (let round = 0; round < MADE; round++) {
      await execa('truncate', ['-s', '1G', file]);
      const began = performance.now();
      await execa('mkfs.ext4', ['-q', '-F', file]);
      taken.push(performance.now() - began);
      await execa('rm', [file]);
    }
  } finally {
    await execa('rm', ['-f', file]);
  }
  return median(taken);
}
