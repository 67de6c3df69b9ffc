import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Executor } from '../../../src/nodes/job.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import { linkOf } from '../../../src/storage/links.ts';
import { freeLoopNumber } from '../../../src/storage/loops.ts';
import { plan } from '../../../src/storage/plan.ts';
import type { NodeHold } from '../../../src/storage/shared-fs/types.ts';
import type { DesiredSparse, ObservedSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { observe, runSteps } from '../../support/carry-out.ts';
import { until } from '../../support/until.ts';
import { onNode } from './node.ts';
import { DIRECTORY, NAMES, type Name, type Sharing, startSharing } from './shared-directory.ts';
import { overlaps, type Sampling, spansOf, startSampling } from './shared-samples.ts';

/** Number of concurrent attempts by both nodes. */
const RACES = 6;
/** Timeout in ms: a node may have an old listing of the directory for a minute. */
const SETTLES_WITHIN = 180_000;

let sharing: Sharing;
/** Executors with separate connections, as of two daemons. */
let executors: Record<Name, Executor>;
let sampled: { vm: Name; sampling: Sampling }[] = [];
let desired: DesiredSparse;
let tokens = 0;

beforeAll(async () => {
  sharing = await startSharing({ cpus: 2 });
  const connect = () =>
    createShellExecutor(createSshShell({ configFile: sharing.configFile, addressOf: () => ({}) }));
  executors = { vm1: connect(), vm2: connect() };
}, 1_800_000);
afterAll(async () => {
  for (const name of NAMES) await executors?.[name].close();
  await sharing?.stop();
});

const vm = (name: Name) => sharing.vms[name];
const sample = (name: Name) => sampled.push({ vm: name, sampling: startSampling(vm(name)) });

beforeEach(() => {
  const uid = randomUUID();
  desired = {
    type: 'sparse',
    uid,
    name: `data-${uid.slice(0, 8)}`,
    mode: 'Filesystem',
    file: `${DIRECTORY}/${uid}`,
    sizeBytes: 32n << 20n,
    fs: { type: 'ext4', options: [] },
    recorded: false,
    onDelete: 'Delete',
    kubeletRoot: '/var/lib/kubelet',
    onDemand: true,
    readOnly: false,
    shared: true,
  };
  sampled = [];
  for (const name of NAMES) sample(name);
});
afterEach(async () => {
  for (const { sampling } of sampled) await sampling.stop();
});

const link = () => linkOf(desired);

async function seen(node: Name): Promise<ObservedSparse> {
  const observed = await observe(executors[node], node, desired);
  if (observed.type !== 'sparse') throw new Error('not looked at as a file');
  return observed;
}

async function planned(node: Name, operation: VolumeOperation, takeOver: readonly NodeHold[] = []) {
  const observed = await seen(node);
  const owner = { node, token: `t${tokens++}`, takeOver };
  return plan(
    operation,
    { ...desired, owner },
    observed,
    freeLoopNumber(observed.loops, new Set()),
  );
}

/**
 * Runs an operation until no step remains, or until a refusal. Retries after a conflict with the
 * other node, as the controller does. Awaits `both` between the first plan and its steps.
 * @returns the refusal, or undefined on success
 */
async function carry(
  node: Name,
  operation: VolumeOperation,
  takeOver: readonly NodeHold[] = [],
  both: () => Promise<unknown> = async () => {},
): Promise<string | undefined> {
  for (let round = 0; round < 8; round++) {
    const made = await planned(node, operation, takeOver);
    if (round === 0) await both();
    if ('refusal' in made) return made.refusal;
    if (made.steps.length === 0) return undefined;
    const end = await runSteps(executors[node], node, desired, made.steps);
    if (end.state === 'failed' || end.state === 'died') {
      throw new Error(`${operation} on ${node}: ${JSON.stringify(end)}`);
    }
  }
  throw new Error(`${operation} on ${node} does not end`);
}

/** Retries until the other node has detached it. */
const carryAtLast = (node: Name, operation: VolumeOperation) =>
  until(
    `${operation} on ${node}`,
    async () => ((await carry(node, operation)) === undefined ? true : undefined),
    SETTLES_WITHIN,
  );

async function make(): Promise<void> {
  expect(await carry('vm1', 'provision')).toBeUndefined();
  desired = { ...desired, recorded: true };
}

const loopsOn = async (node: Name) =>
  (await vm(node).run(['losetup', '-n', '-O', 'RO,BACK-FILE'])).stdout
    .split('\n')
    .filter((line) => line.includes(desired.uid))
    .map((line) => line.trim().split(/\s+/)[0]);

function expectNeverBoth(): void {
  const spans = sampled.flatMap((each) => spansOf(each.vm, each.sampling.samples(), desired.uid));
  expect(overlaps(spans)).toEqual([]);
  // The samples did include it.
  expect(new Set(spans.map((span) => span.vm))).toEqual(new Set(NAMES));
}

const recordsOn = async (node: Name) =>
  (
    await vm(node).run(['find', '/var/lib/stowage/volumes', '-name', `${desired.uid}*`])
  ).stdout.trim();

async function gone(): Promise<void> {
  for (const name of NAMES) await carryAtLast(name, 'detach');
  await carryAtLast('vm2', 'delete');
  expect((await vm('vm1').run(['find', DIRECTORY, '-name', `${desired.uid}*`])).stdout).toBe('');
}

test('another node than the creator expands the file, and drops its record on detach', async () => {
  await make();
  desired = { ...desired, recordedBytes: desired.sizeBytes, sizeBytes: 48n << 20n };
  await carryAtLast('vm2', 'attach');
  const { stdout } = await vm('vm2').run(['blockdev', '--getsize64', link()]);
  expect(stdout.trim()).toBe(String(desired.sizeBytes));
  await onNode(vm('vm2')).write('ext4', link(), 'grown');
  await carryAtLast('vm2', 'detach');
  expect(await recordsOn('vm2')).toBe('');
  // The status has this size by then.
  desired = { ...desired, recordedBytes: desired.sizeBytes };
  await carryAtLast('vm1', 'attach');
  expect(await onNode(vm('vm1')).read('ext4', link())).toBe('grown');
  expectNeverBoth();
  await carryAtLast('vm1', 'detach');
  expect(await recordsOn('vm1')).not.toBe('');
  await gone();
}, 1_200_000);

test('data written on one node is read on the other, back and forth', async () => {
  await make();
  let before = '';
  for (const node of ['vm1', 'vm2', 'vm1', 'vm2'] as const) {
    await carryAtLast(node, 'attach');
    if (before !== '') expect(await onNode(vm(node)).read('ext4', link())).toBe(before);
    before = `from ${node}: ${randomUUID()}`;
    await onNode(vm(node)).write('ext4', link(), before);
    const other = node === 'vm1' ? 'vm2' : 'vm1';
    expect(await carry(other, 'attach')).toMatch(
      new RegExp(` is held by node ${node} since \\d{4}-`),
    );
    expect(await carry(other, 'delete')).toMatch(` is held by node ${node} since `);
    await carryAtLast(node, 'detach');
  }
  expectNeverBoth();
  await gone();
}, 1_200_000);

test(`exactly one node wins each of ${RACES} concurrent attaches`, async () => {
  await make();
  const winners: Name[] = [];
  for (let race = 0; race < RACES; race++) {
    const gate = meeting(NAMES.length);
    const ends = await Promise.all(NAMES.map((node) => carry(node, 'attach', [], gate)));
    const [winner] = NAMES.filter((_, index) => ends[index] === undefined);
    if (winner === undefined) throw new Error(`nobody has it: ${ends.join('; ')}`);
    const loser = winner === 'vm1' ? 'vm2' : 'vm1';
    winners.push(winner);
    expect(ends[NAMES.indexOf(loser)]).toMatch(`is held by node ${winner}`);
    expect([await loopsOn(winner), await loopsOn(loser)]).toEqual([['0'], []]);
    // Now one node detaches it while the other tries to attach it.
    const again = meeting(NAMES.length);
    await Promise.all([
      carry(winner, 'detach', [], again),
      carry(loser, 'attach', [], again).then(() => carryAtLast(loser, 'attach')),
    ]);
    await carryAtLast(loser, 'detach');
  }
  console.info(`who was first: ${winners.join(', ')}`);
  expectNeverBoth();
  await gone();
}, 1_800_000);

/** Returns a function whose promises resolve when it has been called `count` times. */
function meeting(count: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === count) for (const go of waiting) go();
    });
}

test('both nodes attach the file read-only, and no writer is admitted meanwhile', async () => {
  await make();
  await carryAtLast('vm2', 'attach');
  await onNode(vm('vm2')).write('ext4', link(), 'for all');
  await carryAtLast('vm2', 'detach');
  desired = { ...desired, readOnly: true };
  for (const name of NAMES) await carryAtLast(name, 'attach');
  for (const name of NAMES) {
    expect(await loopsOn(name)).toEqual(['1']);
    const read = 'mount -o ro,noload "$1" /mnt && cat /mnt/data; got=$?; umount /mnt; exit $got';
    expect((await vm(name).run(['sh', '-c', read, 'sh', link()])).stdout).toBe('for all');
    const write = await vm(name).run(['dd', 'if=/dev/zero', `of=${link()}`, 'count=1'], {
      reject: false,
    });
    expect(write).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/not permitted|denied|Read-only/),
    });
  }
  await carryAtLast('vm2', 'detach');
  desired = { ...desired, readOnly: false };
  expect(await carry('vm2', 'attach')).toMatch(' is read on node vm1');
  expect(await carry('vm2', 'delete')).toMatch(' is read on node vm1');
  desired = { ...desired, readOnly: true };
  await carryAtLast('vm1', 'detach');
  desired = { ...desired, readOnly: false };
  await carryAtLast('vm2', 'attach');
  await gone();
}, 1_200_000);

describe('a directory with an unsuitable mount', () => {
  test.each([
    ['soft', ['rw', 'soft'], /which is mounted soft/],
    ['ro', ['ro', 'hard'], /which is mounted ro/],
  ] as const)(
    'is refused if mounted %s',
    async (kind, options, why) => {
      const path = `/srv/${kind}`;
      await sharing.mount('vm1', path, options);
      desired = { ...desired, file: `${path}/${desired.uid}` };
      expect(await carry('vm1', 'provision')).toMatch(why);
      expect(await carry('vm1', 'attach')).toMatch(why);
      await vm('vm1').run(['umount', path]);
    },
    300_000,
  );

  test('is refused if not on an NFS mount', async () => {
    await vm('vm1').run(['mkdir', '-p', '/srv/folder']);
    desired = { ...desired, file: `/srv/folder/${desired.uid}` };
    expect(await carry('vm1', 'provision')).toMatch(
      'which is of type ext4: it must be on an NFS 4 mount',
    );
  }, 300_000);

  test('is refused for local_lock only if the kernel reports that option', async () => {
    const path = '/srv/locks';
    await sharing.mount('vm1', path, ['rw', 'hard', 'local_lock=all']);
    const { stdout } = await vm('vm1').run(['grep', ` ${path} `, '/proc/self/mountinfo']);
    desired = { ...desired, file: `${path}/${desired.uid}` };
    const refusal = (await carry('vm1', 'provision')) ?? 'none';
    // NFS 4 has no such mode: Linux drops the option. If a mount has it, provisioning there must be
    // refused.
    if (stdout.includes('local_lock=none')) expect(refusal).toBe('none');
    else expect(refusal).toMatch(/mounted local_lock=/);
    if (refusal === 'none') expect(await carry('vm1', 'delete')).toBeUndefined();
    await vm('vm1').run(['umount', path]);
  }, 300_000);
});

test('a file that a dead node holds is taken over only with that exact hold', async () => {
  await make();
  await carryAtLast('vm1', 'attach');
  await onNode(vm('vm1')).write('ext4', link(), 'synced before');
  await vm('vm1').powerCut();

  expect(await carry('vm2', 'attach')).toMatch('is held by node vm1 since ');
  const [holder] = (await seen('vm2')).shared?.owners.slice(-1) ?? [];
  if (holder?.state.is !== 'held') throw new Error('not held');
  const { by } = holder.state;
  const others = [
    { ...by, token: 'another' },
    { ...by, bootId: randomUUID() },
  ];
  expect(await carry('vm2', 'attach', others)).toMatch('is held by node vm1 since ');
  expect(await loopsOn('vm2')).toEqual([]);
  expect(await carry('vm2', 'attach', [by])).toBeUndefined();
  expect(await onNode(vm('vm2')).read('ext4', link())).toBe('synced before');
  await onNode(vm('vm2')).write('ext4', link(), 'written after');

  await vm('vm1').boot();
  await sharing.mount('vm1');
  sample('vm1');
  expect(await loopsOn('vm1')).toEqual([]);
  expect(await carry('vm1', 'attach')).toMatch('is held by node vm2 since ');
  expect(await carry('vm1', 'detach')).toBeUndefined();
  // The cleanup on the returned node does not affect the other node.
  expect(await loopsOn('vm2')).toEqual(['0']);
  await carryAtLast('vm2', 'detach');
  await carryAtLast('vm1', 'attach');
  expect(await onNode(vm('vm1')).read('ext4', link())).toBe('written after');
  expectNeverBoth();
  await gone();
}, 1_800_000);
