import { readdir, readlink, stat } from 'node:fs/promises';
import { expect } from '@jest/globals';
import { execa } from 'execa';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, Job, JobState, Step } from '../../src/nodes/job.ts';
import { deviceOf, type VolumeDevice } from '../../src/storage/device.ts';
import { freeLoopNumber } from '../../src/storage/loops.ts';
import { plan } from '../../src/storage/plan.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';
import type { Observed } from '../../src/storage/registry.ts';
import type { DesiredRaw, DesiredSparse, VolumeOperation } from '../../src/storage/types.ts';

type Desired = DesiredSparse | DesiredRaw;

import { observe } from './carry-out.ts';
import type { Disk } from './disks.ts';
import { type Backing, type Content, type Kinds, recordedAs, SIZE } from './kinds.ts';
import { sha256 } from './signatures.ts';
import { until } from './until.ts';
import type { Call, Crash, Wrappers } from './wrappers.ts';

/** Maximum time (ms) until a volume converges after a crash. */
export const CONVERGES_WITHIN = 180_000;

/**
 * Number of attempts before the controller stops provisioning a Volume (see MAX_ATTEMPTS in
 * src/controllers/volume/provision.ts).
 */
const MAX_ATTEMPTS = 8;

const MIB = 1n << 20n;
const RECORDS = '/var/lib/stowage/volumes';

/** All programs that steps and preconditions call. */
export const PROGRAMS = [
  ...['mkfs.ext4', 'mkfs.xfs', 'sgdisk', 'wipefs', 'dd', 'cmp', 'fallocate'],
  ...['losetup', 'partx', 'udevadm', 'blkid', 'lsblk'],
  ...['mv', 'sync', 'truncate', 'rm', 'install', 'mkdir', 'test', 'find', 'stat'],
];

export interface Kind {
  backing: Backing;
  content: Content;
  onDelete: 'Delete' | 'Wipe';
}

export interface Point {
  during: 'provision' | 'delete';
  crash: Crash;
}

export interface Life {
  /** Calls during provisioning and during deletion. */
  calls: Record<Point['during'], Call[]>;
  /** Set if the crash took place. */
  happened: boolean;
  /** Longest duration (ms) of an operation. */
  took: number;
}

export const nameOf = ({ backing, content, onDelete }: Kind) =>
  `${backing} with ${content}, ${onDelete}`;

/**
 * Provisions, uses, provisions again and deletes a volume with the plans, jobs and observations of
 * the controller. At one point, the shell of a job or observation and its program are killed. Both
 * operations must complete, and nothing may remain.
 */
export async function liveOnce(
  kinds: Kinds,
  wrappers: Wrappers,
  kind: Kind,
  point?: Point,
): Promise<Life> {
  const executor = kinds.executors.ssh;
  const { desired, disk } = await newVolume(kinds, kind);
  const beside = disk === undefined ? undefined : await besideOf(disk);
  const partuuid = await partuuidOf(desired);
  let took = 0;
  let happened = point === undefined;

  async function reach(
    operation: VolumeOperation,
    wanted: Desired,
  ): Promise<[VolumeDevice, Call[]]> {
    const before = (await wrappers.calls()).length;
    const start = Date.now();
    if (point?.during === operation) await wrappers.crash(point.crash);
    const seen = await carryOn(executor, operation, wanted, start + CONVERGES_WITHIN, disk);
    if (point?.during === operation) happened = await wrappers.happened();
    took = Math.max(took, Date.now() - start);
    return [deviceOf(wanted, seen), (await wrappers.calls()).slice(before)];
  }

  const [made, provisioning] = await reach('provision', desired);
  await expectMade(kinds, kind, desired, made);
  const done = (await stat(`/var/lib/stowage/volumes/${desired.uid}.done`)).mtimeMs;
  expect(provisioning.filter((call) => call.time > done && destroys(call))).toEqual([]);
  await kinds.write(desired, made.link, 'kept');

  const recorded = recordedAs(desired, made.identity);
  for (const operation of ['provision', 'attach'] as const) {
    const before = (await wrappers.calls()).length;
    await carryOn(executor, operation, recorded, Date.now() + CONVERGES_WITHIN, disk);
    expect((await wrappers.calls()).slice(before).filter(destroys)).toEqual([]);
  }
  expect(await kinds.read(desired, made.link)).toBe('kept');

  const [, deletion] = await reach('delete', recorded);
  expect(deletion.filter((call) => call.program.startsWith('mkfs.') && destroys(call))).toEqual([]);
  expect(await executor.purge('n1', desired.uid)).toBe(true);
  await expectGone(kinds, kind, desired, made.link, partuuid);
  if (disk !== undefined) expect(await besideOf(disk)).toBe(beside);
  return { calls: { provision: provisioning, delete: deletion }, happened, took };
}

/** Patterns of calls that destroy nothing, in the format of Crash.except; see `destroys`. */
export const READ_ONLY_CALLS: Readonly<Record<string, string>> = {
  dd: '^dd [0-9]+ [0-9]+ ((.* )?of=(/var/lib/stowage/|/dev/null( |$)))',
  'mkfs.ext4': '^mkfs.ext4 [0-9]+ [0-9]+ -n ',
};

/** Reports whether a call writes to a volume's storage, other than its records. */
export function destroys({ program, args }: Pick<Call, 'program' | 'args'>): boolean {
  if (program === 'wipefs') return !/(^| )-\w*n( |$)/.test(args);
  // Observations read the beginning of a device.
  if (program === 'dd') return !/(^| )of=(\/var\/lib\/stowage\/|\/dev\/null( |$))/.test(args);
  // With -n, mkfs.ext4 only checks whether the kernel holds a device.
  if (program === 'mkfs.ext4') return !args.startsWith('-n ');
  return ['mkfs.xfs', 'sgdisk'].includes(program);
}

/**
 * Creates the storage of a volume: large for XFS, else small and fast. A device carries foreign
 * data, also in the next partition.
 */
async function newVolume(kinds: Kinds, { backing, content, onDelete }: Kind) {
  const sizeBytes = content === 'xfs' ? SIZE : 80n * MIB;
  if (backing === 'sparse file') {
    const desired = await kinds.desired(backing, content, { onDelete });
    return { desired: { ...desired, sizeBytes } as Desired, disk: undefined };
  }
  const disk =
    backing === 'disk'
      ? await kinds.disk(sizeBytes)
      : await kinds.disk(2n * sizeBytes + 2n * MIB, 'gpt');
  const path = backing === 'disk' ? disk.path : disk.partition;
  // Without data, a wipe could not be detected. nocreat: a file at the path would hide the device
  // permanently.
  const put = ['if=/dev/urandom', 'bs=1M', 'conv=nocreat,fsync'];
  const write = (to: string, ...where: string[]) =>
    until(`data on ${to}`, async () => {
      // A late event of udev may drop the partitions.
      await disk.reread();
      const { failed } = await execa('dd', [...put, `of=${to}`, ...where], { reject: false });
      return failed ? undefined : true;
    });
  await write(path, 'seek=40', 'count=1');
  if (backing === 'disk')
    return { desired: kinds.onDevice(path, content, { onDelete }), disk: undefined };
  await write(`${disk.path}p2`, 'count=2');
  return { desired: kinds.onDevice(path, content, { onDelete }), disk };
}

/** Returns the checksum of the next partition. */
function besideOf({ path }: Disk): Promise<string> {
  return sha256(`${path}p2`);
}

async function partuuidOf(desired: Desired): Promise<string> {
  if (desired.type === 'sparse') return '';
  const args = ['-p', '-o', 'value', '-s', 'PART_ENTRY_UUID', desired.devicePath];
  return (await execa('blkid', args, { reject: false })).stdout;
}

/**
 * Carries out an operation like the controller: observes and plans again, except after an actual
 * failure.
 */
async function carryOn(
  executor: Executor,
  operation: VolumeOperation,
  desired: Desired,
  deadline: number,
  disk: Disk | undefined,
): Promise<Observed> {
  const seen: string[] = [];
  for (let attempt = 1; Date.now() < deadline; ) {
    await disk?.reread();
    const found = await look(executor, operation, desired);
    if ('why' in found) {
      seen.push(found.why);
      continue;
    }
    if (found.steps.length === 0) return found.observed;
    if (operation === 'provision' && attempt > MAX_ATTEMPTS) break;
    const state = await run(executor, desired, `${operation}-${attempt++}`, found.steps, deadline);
    seen.push(JSON.stringify(state));
    // Only a deletion is retried after a failure; other failures are reported to the user.
    if (state.state === 'failed' && operation !== 'delete') break;
  }
  throw new Error(`${operation} came to no end: ${seen.join('; ')}`);
}

type Found = { observed: Observed; steps: readonly Step[] } | { why: string };

/**
 * Plans. `why` is a transient reason: a failed observation, or a refusal that allows a retry.
 */
async function look(
  executor: Executor,
  operation: VolumeOperation,
  desired: Desired,
): Promise<Found> {
  try {
    const observed = await observe(executor, 'n1', desired);
    const planned = plan(operation, desired, observed, freeLoopNumber(observed.loops, new Set()));
    if (!('refusal' in planned)) return { observed, steps: planned.steps };
    if (planned.retryable) return { why: planned.refusal };
    throw new Error(`${operation} is refused: ${planned.refusal}`);
  } catch (error) {
    // A partition may vanish for a moment while udev has the table read again.
    if (error instanceof NodeError || error instanceof ObservationError) {
      return { why: error.message };
    }
    throw error;
  }
}

async function run(
  executor: Executor,
  desired: Desired,
  id: string,
  steps: readonly Step[],
  deadline: number,
): Promise<JobState> {
  const job: Job = { key: { subject: desired.uid, id }, steps };
  for (;;) {
    try {
      const state = await executor.submit('n1', job, 20_000);
      if (state.state !== 'running') return state;
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
    }
    if (Date.now() > deadline) throw new Error(`${id} is not at its end`);
  }
}

async function expectMade(
  kinds: Kinds,
  { content }: Kind,
  desired: Desired,
  made: VolumeDevice,
): Promise<void> {
  const { uid } = desired;
  expect(made.link).toBe(`/dev/disk/by-id/stowage-${uid}`);
  expect((await readlink(made.link)).replace(/.*\//, '')).toBe(made.device?.name);
  const { stdout } = await execa('blkid', ['-p', '-o', 'export', made.link], { reject: false });
  const wanted =
    content === 'Block' ? [`PART_ENTRY_UUID=${uid}`] : [`UUID=${uid}`, `TYPE=${content}`];
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(wanted));
  if (desired.type === 'sparse') {
    expect(made.device?.sizeBytes).toBe(desired.sizeBytes);
    expect(await loopsOf(desired.file)).toHaveLength(1);
  }
  const traces = [`/run/stowage/jobs/${uid}`, `${RECORDS}/${uid}.done`, `${RECORDS}/${uid}.intent`];
  if (desired.type === 'sparse') traces.push(desired.file);
  // Half a submission is removed a minute later, or with the other jobs.
  expect((await tracesOf(kinds, uid)).filter((path) => !path.startsWith('.new.'))).toEqual(
    traces.sort(),
  );
}

async function expectGone(
  kinds: Kinds,
  { content, onDelete }: Kind,
  desired: Desired,
  link: string,
  partuuid: string,
): Promise<void> {
  expect(await tracesOf(kinds, desired.uid)).toEqual([]);
  // udev detects the missing signature with a delay.
  await until(`${link} gone`, () =>
    readlink(link).then(
      () => undefined,
      () => true,
    ),
  );
  if (desired.type === 'sparse') {
    expect(await loopsOf(desired.file)).toEqual([]);
    return;
  }
  const { devicePath } = desired;
  expect((await execa('wipefs', ['-n', '-i', '-O', 'TYPE', devicePath])).stdout).toBe('');
  if (content === 'Block') expect(await partuuidOf(desired)).toBe(partuuid);
  const zero = (await execa('cmp', [devicePath, '/dev/zero'], { reject: false })).stderr.includes(
    'EOF on',
  );
  expect(zero).toBe(onDelete === 'Wipe');
}

/** Returns all files whose name contains the volume's UID, except links of udev. */
async function tracesOf(kinds: Kinds, uid: string): Promise<string[]> {
  const paths: string[] = [];
  for (const folder of [kinds.folder, '/run/stowage/jobs', RECORDS]) {
    const names = await readdir(folder).catch(() => []);
    paths.push(...names.filter((name) => name.startsWith(uid)).map((name) => `${folder}/${name}`));
  }
  const half = await readdir(`/run/stowage/jobs/${uid}`).catch(() => []);
  paths.push(...half.filter((name) => name.startsWith('.new.')));
  return paths.sort();
}

async function loopsOf(file: string): Promise<string[]> {
  const { stdout } = await execa('losetup', ['-n', '-O', 'NAME,BACK-FILE', '--list']);
  return stdout.split('\n').filter((line) => line.includes(file));
}
