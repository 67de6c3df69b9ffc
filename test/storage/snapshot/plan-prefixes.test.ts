import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { freeLoopNumber } from '../../../src/storage/loops.ts';
import { plan } from '../../../src/storage/plan.ts';
import { planSnapshot } from '../../../src/storage/snapshot/plan.ts';
import type { DesiredSparse, Plan } from '../../../src/storage/types.ts';
import { FakeNode, type Killed } from '../../support/fake-node.ts';
import {
  COPY,
  COPY_UID,
  RESTORED_UID,
  restored,
  snapshotted,
  wantedCopy,
} from '../../support/snapshot-copy.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { FILE } from '../../support/volume-input.ts';

/**
 * Interrupts a plan after any prefix, inside its last step: planning again must reach the same
 * result.
 */

type Use = 'detached' | 'attached' | 'mounted';
interface Crash {
  /** Position of the interrupted step as a fraction of the remaining steps. */
  where: number;
  killed: Killed;
  reboot: boolean;
  /** Set if a pod writes to the volume. */
  write: boolean;
  use: Use;
}

const uses = fc.constantFrom<Use>('detached', 'attached', 'mounted');
const crashes = fc.array(
  fc.record<Crash>({
    where: fc.double({ min: 0, max: 1, noNaN: true }),
    killed: fc.constantFrom('before', 'half', 'after'),
    reboot: fc.boolean(),
    write: fc.boolean(),
    use: uses,
  }),
  { maxLength: 6 },
);
const types = fc.constantFrom<'ext4' | 'xfs'>('ext4', 'xfs');

const MOUNT = '/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/data1';

function stepsOf(made: Plan) {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
}

/** Returns a node with a volume that was written once. */
function node(type: 'ext4' | 'xfs'): FakeNode {
  const made = new FakeNode();
  const desired = { ...snapshotted, recorded: false };
  made.run(stepsOf(plan('provision', desired, made.observe(desired), 0)));
  Object.assign(made.files.get(FILE) ?? {}, { type, data: 'a', changes: 1 });
  return made;
}

function setUse(on: FakeNode, use: Use): void {
  const number =
    [...on.loops].find(([, { file }]) => file === FILE)?.[0] ??
    freeLoopNumber(on.observe(snapshotted).loops, new Set());
  const inode = on.files.get(FILE)?.inode ?? 0;
  on.mounts.delete(MOUNT);
  if (use === 'detached') on.loops.delete(number);
  else on.loops.set(number, { file: FILE, inode });
  if (use === 'mounted') on.mounts.set(MOUNT, number);
}

function write(on: FakeNode): void {
  const file = on.files.get(FILE);
  if (file === undefined) throw new Error('the volume is gone');
  Object.assign(file, { data: `${file.data}b`, changes: (file.changes ?? 0) + 1 });
}

function interrupt(
  on: FakeNode,
  planned: () => Plan,
  crashed: readonly Crash[],
  of: 'snapshot' | 'restore',
): void {
  for (const { where, killed, reboot, use, write: writes } of crashed) {
    const steps = stepsOf(planned());
    on.crash(steps, Math.floor(where * steps.length), killed);
    if (reboot) on.reboot();
    if (writes) write(on);
    if (of === 'snapshot') setUse(on, use);
  }
}

function finish(on: FakeNode, planned: () => Plan): void {
  on.run(stepsOf(planned()));
  expect(stepsOf(planned())).toEqual([]);
}

const left = (on: FakeNode) => ({
  partials: [...on.files.keys()].filter((path) => path.endsWith('.partial')),
  loops: [...on.loops.values()].filter(({ file }) => file.endsWith('.partial')),
  mounts: [...on.mounts.keys()].filter((point) => point !== MOUNT),
});
const NOTHING = { partials: [], loops: [], mounts: [] };

test('a copy is complete after any interruption or use of its volume, and never retaken', () => {
  fc.assert(
    fc.property(types, crashes, uses, crashes, (type, taking, use, later) => {
      const on = node(type);
      const take = () => planSnapshot('take', wantedCopy, on.observeSnapshot(wantedCopy));
      interrupt(on, take, taking, 'snapshot');
      setUse(on, use);
      finish(on, take);
      const copy = on.files.get(COPY);
      expect(copy).toMatchObject({ uuid: COPY_UID, sizeBytes: snapshotted.sizeBytes });
      expect(copy?.torn).toBeUndefined();
      expect(on.files.get(FILE)?.data).toMatch(new RegExp(`^${copy?.data}`));
      expect(left(on)).toEqual(NOTHING);
      const before = { ...copy };
      write(on);
      interrupt(on, take, later, 'snapshot');
      expect(on.files.get(COPY)).toEqual(before);

      const remove = () => planSnapshot('delete', wantedCopy, on.observeSnapshot(wantedCopy));
      interrupt(on, remove, later, 'snapshot');
      finish(on, remove);
      expect([...on.files.keys()].filter((path) => path.startsWith(COPY))).toEqual([]);
    }),
    { seed: TEST_SEED, numRuns: 500 },
  );
});

test('deletion of an unfinished copy leaves nothing after any interruption', () => {
  fc.assert(
    fc.property(types, crashes, crashes, (type, taking, removing) => {
      const on = node(type);
      interrupt(
        on,
        () => planSnapshot('take', wantedCopy, on.observeSnapshot(wantedCopy)),
        taking,
        'snapshot',
      );
      const remove = () => planSnapshot('delete', wantedCopy, on.observeSnapshot(wantedCopy));
      interrupt(on, remove, removing, 'snapshot');
      finish(on, remove);
      expect([...on.files.keys()].filter((path) => path.startsWith(COPY))).toEqual([]);
      expect(left(on)).toEqual(NOTHING);
    }),
    { seed: TEST_SEED, numRuns: 300 },
  );
});

test('a restored volume has content, full size and its own UUID after any interruption', () => {
  fc.assert(
    fc.property(types, crashes, fc.boolean(), (type, preparing, larger) => {
      const on = node(type);
      finish(on, () => planSnapshot('take', wantedCopy, on.observeSnapshot(wantedCopy)));
      write(on);
      const desired = larger ? restored : { ...restored, sizeBytes: snapshotted.sizeBytes };
      const { sizeBytes } = desired;
      const prepare = () => planNow(on, 'provision', desired);
      interrupt(on, prepare, preparing, 'restore');
      finish(on, prepare);
      const file = on.files.get(restored.file);
      expect(file).toMatchObject({ uuid: RESTORED_UID, data: 'a', sizeBytes });
      expect(file?.fsBytes).toBe(larger ? sizeBytes : undefined);
      expect(file?.torn).toBeUndefined();
      expect(left(on)).toEqual(NOTHING);
      expect(on.observe(restored).done).toEqual({ sizeBytes });
      expect(stepsOf(planNow(on, 'attach', { ...desired, recorded: true }))).toEqual([]);
      expect(on.files.get(COPY)).toMatchObject({ uuid: COPY_UID, data: 'a', sizeBytes: 1n << 30n });
    }),
    { seed: TEST_SEED, numRuns: 300 },
  );
});

test('deletion of a partly restored volume leaves nothing, and keeps the copy', () => {
  fc.assert(
    fc.property(types, crashes, crashes, (type, preparing, destroying) => {
      const on = node(type);
      finish(on, () => planSnapshot('take', wantedCopy, on.observeSnapshot(wantedCopy)));
      interrupt(on, () => planNow(on, 'provision', restored), preparing, 'restore');
      const destroy = () => planNow(on, 'delete', restored);
      interrupt(on, destroy, destroying, 'restore');
      finish(on, destroy);
      expect([...on.files.keys()].filter((path) => path.includes(RESTORED_UID))).toEqual([]);
      expect(left(on)).toEqual(NOTHING);
      expect(on.files.has(COPY)).toBe(true);
    }),
    { seed: TEST_SEED, numRuns: 300 },
  );
});

test.each(['ext4', 'xfs'] as const)(
  'copy and restore of an %s recover from a crash in each step',
  (type) => {
    const ways: Killed[] = ['before', 'half', 'after'];
    const kinds: [(on: FakeNode) => () => Plan, boolean][] = [
      [(on) => () => planSnapshot('take', wantedCopy, on.observeSnapshot(wantedCopy)), false],
      [(on) => () => planNow(on, 'provision', restored), true],
    ];
    for (const [plannedOn, needsCopy] of kinds) {
      for (let number = 0; ; number++) {
        let steps = 0;
        for (const killed of ways) {
          const on = node(type);
          if (needsCopy)
            finish(on, () => planSnapshot('take', wantedCopy, on.observeSnapshot(wantedCopy)));
          const planned = plannedOn(on);
          steps = stepsOf(planned()).length;
          on.crash(stepsOf(planned()), number, killed);
          const other = sameAs(on);
          finish(other, () =>
            needsCopy
              ? planNow(other, 'delete', restored)
              : planSnapshot('delete', wantedCopy, other.observeSnapshot(wantedCopy)),
          );
          expect(left(other)).toEqual(NOTHING);
          finish(on, planned);
          expect(left(on)).toEqual(NOTHING);
          expect(on.files.get(needsCopy ? restored.file : COPY)).toMatchObject({
            uuid: needsCopy ? RESTORED_UID : COPY_UID,
            data: 'a',
          });
        }
        if (number >= steps) break;
      }
    }
  },
);

/** Returns a copy of a node. */
function sameAs(of: FakeNode): FakeNode {
  const other = new FakeNode();
  for (const [path, file] of of.files) other.files.set(path, { ...file });
  for (const [number, loop] of of.loops) other.loops.set(number, { ...loop });
  for (const [point, number] of of.mounts) other.mounts.set(point, number);
  return other;
}

function planNow(
  on: FakeNode,
  operation: 'provision' | 'attach' | 'delete',
  desired: DesiredSparse,
): Plan {
  const observed = on.observe(desired);
  return plan(operation, desired, observed, freeLoopNumber(observed.loops, new Set()));
}
