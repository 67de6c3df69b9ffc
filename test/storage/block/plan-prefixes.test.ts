import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Step } from '../../../src/nodes/job.ts';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredRaw, VolumeOperation } from '../../../src/storage/types.ts';
import { divide, FakeDisks, fakeDisk, Raced } from '../../support/fake-disk.ts';
import type { Killed } from '../../support/fake-node.ts';
import { writesTo } from '../../support/plans.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { UID } from '../../support/volume-input.ts';

/**
 * Interrupts a plan after any prefix, inside its last step: planning again must reach the same
 * result.
 */

const GUIDS = [
  '0a1b2c3d-0000-4000-8000-000000000001',
  '0a1b2c3d-0000-4000-8000-000000000002',
] as const;
const TABLE = '0a1b2c3d-0000-4000-8000-0000000000ff';
const OTHER = '11111111-2222-4333-8444-555555555555';

const BACKINGS = ['disk', 'partition', 'logical volume'] as const;
const FILLS = ['nothing', 'ext4', 'two partitions'] as const;
const CONTENTS = ['ext4', 'xfs', 'Block'] as const;
type Backing = (typeof BACKINGS)[number];
type Fill = (typeof FILLS)[number];

/**
 * Possible combinations: partitions are not divided, and mode Block on a logical volume needs no
 * extra space.
 */
const CASES = BACKINGS.flatMap((backing) =>
  FILLS.flatMap((fill) => CONTENTS.map((content) => [backing, fill, content] as const)),
).filter(([backing, fill]) => fill !== 'two partitions' || backing === 'disk');

function nodeWith(backing: Backing, fill: Fill): FakeDisks {
  const dm = backing === 'logical volume' ? { dm: 'LVM-abc' } : {};
  const disk = fakeDisk(backing === 'logical volume' ? 'dm-b' : 'sdb', { id: 'ours', ...dm });
  const other = fakeDisk('sdc', {
    id: 'other',
    marks: [{ at: 0x438n, type: 'ext4', uuid: OTHER }],
  });
  if (backing === 'partition' || fill === 'two partitions') divide(disk, TABLE, GUIDS);
  const node = new FakeDisks(disk, other);
  const inner = disk.table.partitions;
  const area = backing === 'disk' && fill !== 'two partitions' ? disk : (inner.get(1) ?? disk);
  if (fill !== 'nothing')
    area.marks.push({ at: 0x438n, type: 'ext4', uuid: OTHER.replace('1', '2') });
  inner.get(2)?.marks.push({ at: 0n, type: 'xfs', uuid: OTHER.replace('1', '3') });
  return node;
}

/** Returns a Volume with consent for the existing content. */
function desiredFor(
  node: FakeDisks,
  backing: Backing,
  content: (typeof CONTENTS)[number],
): DesiredRaw {
  const desired: DesiredRaw = {
    type: 'raw',
    uid: UID,
    name: 'data1',
    mode: content === 'Block' ? 'Block' : 'Filesystem',
    fs: content === 'Block' ? undefined : { type: content, options: [] },
    recorded: false,
    onDelete: 'Delete',
    kubeletRoot: '/var/lib/kubelet',
    devicePath: `/dev/disk/by-id/ours${backing === 'partition' ? '-part1' : ''}`,
    overwrite: undefined,
    identity: undefined,
  };
  const { target } = node.observe(desired);
  const found = target.is === 'device' ? target.facts.content : '';
  return found === '' ? desired : { ...desired, overwrite: found };
}

function stepsOf(
  node: FakeDisks,
  operation: VolumeOperation,
  desired: DesiredRaw,
): readonly Step[] {
  const observed = node.observe(desired);
  const made = plan(operation, desired, observed, 0);
  if ('refusal' in made) throw new Error(`${operation} refused: ${made.refusal}`);
  if ((observed.done || desired.recorded) && operation !== 'delete')
    expect(writesTo(made.steps)).toEqual([]);
  return made.steps;
}

interface Crash {
  where: number;
  killed: Killed;
  reboot: boolean;
  /** Set if the kernel finds the disks in another order. */
  exchange: boolean;
}
const crashes = fc.array(
  fc.record<Crash>({
    where: fc.double({ min: 0, max: 1, noNaN: true }),
    killed: fc.constantFrom('before', 'half', 'after'),
    reboot: fc.boolean(),
    exchange: fc.boolean(),
  }),
  { maxLength: 5 },
);

/** Ignores a conflict, after which the operation is planned again. */
function raceable(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Raced)) throw error;
  }
}

function interrupt(
  node: FakeDisks,
  operation: VolumeOperation,
  desired: DesiredRaw,
  crashed: readonly Crash[],
): void {
  for (const { where, killed, reboot, exchange } of crashed) {
    const steps = stepsOf(node, operation, desired);
    raceable(() => node.crash(steps, Math.floor(where * steps.length), killed));
    if (reboot) node.reboot(exchange);
  }
}

function finish(node: FakeDisks, operation: VolumeOperation, desired: DesiredRaw): void {
  for (let round = 0; round < 4; round++) {
    const steps = stepsOf(node, operation, desired);
    if (steps.length === 0) return;
    raceable(() => node.run(steps));
  }
  expect(stepsOf(node, operation, desired)).toEqual([]);
}

const deviceOf = (node: FakeDisks, { devicePath }: DesiredRaw) => {
  const found = node.area(devicePath);
  if (found === undefined) throw new Error(`no ${devicePath}`);
  return found;
};

function expectPrepared(node: FakeDisks, desired: DesiredRaw): void {
  const { done, intent, link } = node.observe(desired);
  const { disk, number, area } = deviceOf(node, desired);
  expect(done).toEqual({ sizeBytes: area.sizeBytes });
  expect(intent?.uid).toBe(UID);
  expect(link).toBeDefined();
  const marks = area.marks
    .filter(({ type }) => type !== '')
    .map(({ type, uuid, torn }) => ({ type, uuid, torn }));
  if (desired.mode === 'Filesystem') {
    expect(marks).toEqual([{ type: desired.fs?.type, uuid: UID, torn: undefined }]);
  } else if (number !== undefined) {
    expect(marks).toEqual([]);
    expect(area).toMatchObject({ guid: UID });
  } else if (disk.dm === undefined) {
    expect(marks.map(({ type }) => type)).toEqual(['PMBR', 'gpt', 'gpt']);
    expect(disk.table).toMatchObject({ uuid: UID, partitions: new Map([[1, expect.anything()]]) });
    expect(disk.table.partitions.get(1)?.guid).toBe(UID);
  } else {
    expect(marks).toEqual([]);
  }
}

/** Writes a pod's data where no program searches for signatures. */
function fill(node: FakeDisks, desired: DesiredRaw): void {
  const { area } = deviceOf(node, desired);
  for (const part of [3n, 50n, 99n])
    area.marks.push({ at: (area.sizeBytes * part) / 100n, type: '' });
}
const data = (node: FakeDisks, desired: DesiredRaw) =>
  deviceOf(node, desired).area.marks.filter(({ type }) => type === '');

/** Expects writes only to the device itself, or to the table with its GUID. */
function expectOthersUntouched(node: FakeDisks, backing: Backing, desired: DesiredRaw): void {
  const allowed =
    backing === 'partition'
      ? ['ours-part1', ...(desired.mode === 'Block' ? ['ours'] : [])]
      : ['ours', 'ours-part1', 'ours-part2'];
  expect([...node.written].filter((id) => !allowed.includes(id))).toEqual([]);
  expect(node.disks.find(({ id }) => id === 'other')?.marks).toEqual([
    { at: 0x438n, type: 'ext4', uuid: OTHER },
  ]);
  if (backing !== 'partition') return;
  const { disk } = deviceOf(node, desired);
  expect(disk.table.partitions.get(2)).toMatchObject({
    guid: GUIDS[1],
    marks: [{ at: 0n, type: 'xfs', uuid: OTHER.replace('1', '3') }],
  });
}

describe.each(CASES)('%s with %s on it, to become %s', (backing, filled, content) => {
  const start = () => {
    const node = nodeWith(backing, filled);
    return { node, desired: desiredFor(node, backing, content) };
  };

  test('reaches the same state after any interruption, and is never provisioned twice', () => {
    fc.assert(
      fc.property(crashes, fc.boolean(), crashes, (preparing, recorded, later) => {
        const { node, desired } = start();
        interrupt(node, 'provision', desired, preparing);
        finish(node, 'provision', desired);
        expectPrepared(node, desired);
        fill(node, desired);
        const kept = data(node, desired);
        const made = { ...desired, recorded };
        node.written.clear();
        interrupt(node, 'attach', made, later);
        finish(node, recorded ? 'attach' : 'provision', made);
        expectPrepared(node, made);
        expect(node.written).toEqual(new Set());
        expect(data(node, made)).toEqual(kept);
        expectOthersUntouched(node, backing, desired);
      }),
      { seed: TEST_SEED, numRuns: 5 },
    );
  });

  test.each(['Delete', 'Wipe', 'Retain'] as const)(
    'is deleted with %s after any interruption of provisioning and deletion',
    (onDelete) => {
      fc.assert(
        fc.property(crashes, fc.boolean(), crashes, (preparing, whole, destroying) => {
          const { node, desired } = start();
          interrupt(node, 'provision', desired, preparing);
          if (whole) {
            finish(node, 'provision', desired);
            fill(node, desired);
          }
          const before = structuredClone(node.disks.find(({ id }) => id === 'ours'));
          const gone = { ...desired, recorded: whole, onDelete };
          interrupt(node, 'delete', gone, destroying);
          finish(node, 'delete', gone);
          expect([...node.records.keys()]).toEqual([]);
          expectOthersUntouched(node, backing, desired);
          const { disk, area } = deviceOf(node, desired);
          if (onDelete === 'Retain') {
            expect({ ...disk, known: 0, name: '' }).toEqual({ ...before, known: 0, name: '' });
            return;
          }
          expect([...disk.marks, ...area.marks].map(({ uuid }) => uuid)).not.toContain(UID);
          expect(backing === 'partition' ? area : {}).toEqual(
            backing === 'partition' ? expect.objectContaining({ guid: GUIDS[0] }) : {},
          );
          if (onDelete === 'Wipe' && whole) expect(area.marks).toEqual([]);
          if (onDelete === 'Delete' && whole) expect(data(node, desired)).toHaveLength(3);
        }),
        { seed: TEST_SEED, numRuns: 5 },
      );
    },
  );

  test('survives interruptions without a reboot on a disk without a serial number', () => {
    fc.assert(
      fc.property(
        crashes,
        crashes,
        fc.constantFrom('Delete', 'Wipe'),
        (preparing, destroying, onDelete) => {
          const still = (crashed: readonly Crash[]) =>
            crashed.map((each) => ({ ...each, reboot: false }));
          const { node, desired } = start();
          for (const disk of node.disks) disk.serial = '';
          interrupt(node, 'provision', desired, still(preparing));
          finish(node, 'provision', desired);
          expectPrepared(node, desired);
          const gone = { ...desired, recorded: true, onDelete } as const;
          interrupt(node, 'delete', gone, still(destroying));
          finish(node, 'delete', gone);
          expect([...node.records.keys()]).toEqual([]);
          expectOthersUntouched(node, backing, desired);
        },
      ),
      { seed: TEST_SEED, numRuns: 5 },
    );
  });

  test('recovers from a crash in each step of provisioning and deletion', () => {
    // A kill before a step is equivalent to one after the previous step.
    const ways: Killed[] = ['half', 'after'];
    const { node: first, desired } = start();
    const total = stepsOf(first, 'provision', desired).length;
    for (let number = 0; number <= total; number++) {
      for (const killed of ways) {
        const { node } = start();
        raceable(() => node.crash(stepsOf(node, 'provision', desired), number, killed));
        finish(node, 'provision', desired);
        expectPrepared(node, desired);
      }
    }
    for (const onDelete of ['Delete', 'Wipe'] as const) {
      const gone = { ...desired, recorded: true, onDelete };
      const steps = stepsOf(first, 'provision', desired);
      raceable(() => first.run(steps));
      finish(first, 'provision', desired);
      const count = stepsOf(first, 'delete', gone).length;
      for (let number = 0; number <= count; number++) {
        for (const killed of ways) {
          const { node } = start();
          finish(node, 'provision', desired);
          fill(node, desired);
          raceable(() => node.crash(stepsOf(node, 'delete', gone), number, killed));
          finish(node, 'delete', gone);
          expect([...node.records.keys()]).toEqual([]);
          if (onDelete === 'Wipe') expect(deviceOf(node, desired).area.marks).toEqual([]);
        }
      }
    }
  });
});
