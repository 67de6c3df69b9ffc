/**
 * `npm run bench:snapshots`: restores a snapshot of a sparse 10 GiB file system with 1 GiB of data,
 * on XFS, which clones files, and on ext4. For comparison, `cp --reflink=auto --sparse=always`
 * copies the same file, followed by `sync`. Both take turns; figures are medians.
 *
 * A restore consists of an observation of the node, the job, and an observation of the result. The
 * job creates the volume with its own UUID, attaches it and waits for the link. Requires root, loop
 * devices and udev.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { FsType } from '../../src/api/file-systems.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { readSnapshot, snapshotProbes } from '../../src/storage/snapshot/observe.ts';
import { planSnapshot } from '../../src/storage/snapshot/plan.ts';
import type { DesiredSnapshot } from '../../src/storage/snapshot/types.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { carryOut, runSteps } from '../support/carry-out.ts';
import { ownFileSystem } from '../support/loop-mounts.ts';
import { ensureUdev } from '../support/udev.ts';
import { median, ms, printFigures, times } from './figures.ts';

const NODE = 'n1';
const ROUNDS = 7;
const SIZE = 10n << 30n;
const WRITTEN_MIB = 1024;

const executor = createShellExecutor(createLocalShell([NODE]));

if (process.getuid?.() === 0) await run();
else console.log('snapshots is left out: it takes root, for loop devices and udev');

async function run(): Promise<void> {
  const stopUdev = await ensureUdev();
  try {
    const [processor] = cpus();
    console.log(`${cpus().length} processors: ${processor?.model}; Node.js ${process.version}`);
    // Other load on the machine increases all figures and decreases ratios.
    console.log(`load before: ${loadavg()[0]?.toFixed(1)}`);
    console.log(
      `a file system of ${SIZE >> 30n} GiB, ${WRITTEN_MIB} MiB written; medians of ${ROUNDS} rounds`,
    );
    for (const type of ['xfs', 'ext4'] as const) await compare(type);
  } finally {
    await stopUdev();
  }
}

async function compare(below: FsType): Promise<void> {
  const disk = await ownFileSystem(below, 24n << 30n);
  try {
    const folder = join(disk.path, 'volumes');
    const snapshot = await takeSnapshot(folder, disk.path);
    const restored: number[] = [];
    const copied: number[] = [];
    const sides = [
      [restored, restore],
      [copied, copy],
    ] as const;
    // The first round fills caches, and does not count. The order alternates: the first variant
    // waits longer for dirty pages of its predecessor.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [figures, run] of round % 2 === 0 ? sides : sides.toReversed()) {
        const took = await run(folder, snapshot);
        if (round > 0) figures.push(took);
      }
    }
    const ratio = `${times(median(restored) / median(copied))} cp`;
    printFigures(`on ${below}: restored`, ms(median(restored)), spread(restored), ratio);
    printFigures(`on ${below}: cp and sync`, ms(median(copied)), spread(copied));
  } finally {
    await disk.remove();
  }
}

function spread(figures: readonly number[]): string {
  return `${ms(Math.min(...figures))} to ${ms(Math.max(...figures))}`;
}

function sparse(folder: string, more: Partial<DesiredSparse> = {}): DesiredSparse {
  const uid = randomUUID();
  return {
    type: 'sparse',
    uid,
    name: uid,
    mode: 'Filesystem',
    fs: { type: 'ext4', options: [] },
    recorded: false,
    onDelete: 'Delete',
    kubeletRoot: '/var/lib/kubelet',
    onDemand: false,
    readOnly: false,
    shared: false,
    file: join(folder, uid),
    sizeBytes: SIZE,
    ...more,
  };
}

/**
 * Takes a snapshot of a volume with data.
 * @returns the path of the copy
 */
async function takeSnapshot(folder: string, disk: string): Promise<string> {
  const volume = sparse(folder);
  await done('provision', volume);
  const mount = join(disk, 'mount');
  await mkdir(mount);
  await execa('mount', [`/dev/disk/by-uuid/${volume.uid}`, mount]);
  try {
    await execa('dd', [
      'if=/dev/urandom',
      `of=${mount}/data`,
      'bs=1M',
      `count=${WRITTEN_MIB}`,
      'conv=fsync',
    ]);
  } finally {
    await execa('umount', [mount]);
  }
  await done('detach', { ...volume, recorded: true });
  const uid = randomUUID();
  const desired: DesiredSnapshot = {
    uid,
    volume: { ...volume, recorded: true },
    freeze: { seconds: 10, copy: false },
  };
  const seen = readSnapshot(desired, await executor.observe(NODE, snapshotProbes(desired)));
  const planned = planSnapshot('take', desired, seen);
  if ('refusal' in planned) throw new Error(planned.refusal);
  const state = await runSteps(executor, NODE, volume, planned.steps);
  if (state.state !== 'succeeded') throw new Error(JSON.stringify(state));
  return join(folder, 'snapshots', uid);
}

async function done(
  operation: 'provision' | 'detach' | 'delete',
  desired: DesiredSparse,
): Promise<void> {
  const end = await carryOut(executor, NODE, operation, desired);
  if (typeof end === 'string') throw new Error(end);
}

/** Returns the duration in ms. */
async function restore(folder: string, file: string): Promise<number> {
  const desired = sparse(folder, { source: { what: 'snapshot', file, mode: 'Filesystem' } });
  const began = performance.now();
  await done('provision', desired);
  const took = performance.now() - began;
  await done('detach', { ...desired, recorded: true });
  await done('delete', { ...desired, recorded: true });
  return took;
}

/** Returns the duration in ms. */
async function copy(folder: string, file: string): Promise<number> {
  const to = join(folder, 'copy');
  const began = performance.now();
  await execa('cp', ['--reflink=auto', '--sparse=always', '--', file, to]);
  await execa('sync', [to]);
  const took = performance.now() - began;
  await rm(to);
  return took;
}
