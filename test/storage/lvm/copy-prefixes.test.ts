import { describe, expect, test } from '@jest/globals';
import type { Step } from '../../../src/nodes/job.ts';
import { isTagged } from '../../../src/storage/lvm/names.ts';
import { planThinSnapshot, thinBytes } from '../../../src/storage/lvm/snapshot.ts';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredLvm, Plan, VolumeOperation } from '../../../src/storage/types.ts';
import type { Killed } from '../../support/fake-node.ts';
import { FakeThin } from '../../support/fake-thin.ts';
import {
  RESTORED_UID,
  restoredThin,
  SNAP,
  SNAP_UID,
  wantedSnap,
} from '../../support/thin-input.ts';
import { UID } from '../../support/volume-input.ts';

/**
 * Interrupts a plan after any prefix, inside its last step: planning again must reach the same
 * result.
 */

const KILLS: readonly Killed[] = ['before', 'half', 'after'];
const REBOOTS = [false, true];

const stepsOf = (made: Plan): readonly Step[] => {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
};
const snapshotSteps = (node: FakeThin, operation: 'take' | 'delete') =>
  stepsOf(planThinSnapshot(operation, wantedSnap, node.snapshot()));
const volumeSteps = (node: FakeThin, operation: VolumeOperation, desired: DesiredLvm) =>
  stepsOf(plan(operation, desired, node.observe(desired), 0));

function settle(node: FakeThin, look: () => readonly Step[]): void {
  for (let round = 0; round < 5; round++) {
    const steps = look();
    if (steps.length === 0) return;
    node.run(steps);
  }
  expect(look()).toEqual([]);
}

/** Kills each step that `look` returns in each way, then calls `then` once no step remains. */
function eachCrash(
  begin: () => FakeThin,
  look: (node: FakeThin) => readonly Step[],
  then: (node: FakeThin) => void,
): void {
  const count = look(begin()).length;
  expect(count).toBeGreaterThan(0);
  for (let number = 0; number < count; number++) {
    for (const killed of KILLS) {
      for (const reboot of REBOOTS) {
        const node = begin();
        node.crash(look(node), number, killed);
        if (reboot) node.reboot();
        // Runs the remaining steps.
        settle(node, () => look(node));
        expect(node.stuck).toBe(false);
        then(node);
      }
    }
  }
}

const snapshotted = (): FakeThin => {
  const node = new FakeThin();
  settle(node, () => snapshotSteps(node, 'take'));
  const [origin] = node.volumes;
  if (origin !== undefined) origin.data = 'second';
  return node;
};

test('a snapshot exists once, complete and hidden from udev, after a crash in any step', () => {
  eachCrash(
    () => new FakeThin(),
    (node) => snapshotSteps(node, 'take'),
    (node) => {
      expect(node.volumes.map(({ facts, data }) => [facts.name, data])).toEqual([
        ['data1', 'first'],
        [SNAP, 'first'],
      ]);
      expect(thinBytes(wantedSnap, node.snapshot())).toBe(1n << 30n);
      expect(node.named(SNAP)?.facts).toMatchObject({ writable: false, active: false });
      expect(node.seen).toEqual([]);
    },
  );
});

test('a deletion removes only the snapshot after a crash in any step of its creation', () => {
  const begun = snapshotSteps(new FakeThin(), 'take').length;
  for (let number = 0; number <= begun; number++) {
    for (const killed of KILLS) {
      eachDeletion(() => {
        const node = new FakeThin();
        node.crash(snapshotSteps(node, 'take'), number, killed);
        return node;
      });
    }
  }
});

function eachDeletion(begin: () => FakeThin): void {
  const node = begin();
  settle(node, () => snapshotSteps(node, 'delete'));
  expect(node.volumes.map(({ facts }) => facts.name)).toEqual(['data1']);
  expect(node.stuck).toBe(false);
}

describe.each([
  ['a snapshot', restoredThin, 'first'],
  [
    'a volume',
    {
      ...restoredThin,
      source: { what: 'volume', vgName: 'vg0', name: 'data1', uid: UID, mode: 'Filesystem' },
    },
    'second',
  ],
] as const)('a volume created from %s', (_, desired, data) => {
  test('has the source’s data, and udev sees only its own UUID, after a crash in any step', () => {
    eachCrash(
      snapshotted,
      (node) => volumeSteps(node, 'provision', desired),
      (node) => {
        const made = node.named('data2');
        expect(made).toMatchObject({
          data,
          uuid: RESTORED_UID,
          facts: { sizeBytes: 2n << 30n, active: true },
        });
        expect(made && isTagged(made.facts, RESTORED_UID)).toBe(true);
        expect(node.volumes).toHaveLength(3);
        // udev also sees the volumes from before a reboot.
        expect(node.seen.filter((uuid) => uuid !== RESTORED_UID && uuid !== UID)).toEqual([]);
        expect(node.seen.filter((uuid) => uuid === UID)).toEqual([]);
        expect(node.inner).toBeUndefined();
        expect(node.observe(desired).done).toEqual({ sizeBytes: 2n << 30n });
      },
    );
  });

  test('is deleted after a crash in any step, and its source is kept', () => {
    const count = volumeSteps(snapshotted(), 'provision', desired).length;
    for (let number = 0; number < count; number++) {
      for (const killed of KILLS) {
        const node = snapshotted();
        node.crash(volumeSteps(node, 'provision', desired), number, killed);
        settle(node, () => volumeSteps(node, 'delete', desired));
        expect(node.volumes.map(({ facts, data }) => [facts.name, data])).toEqual([
          ['data1', 'second'],
          [SNAP, 'first'],
        ]);
        expect([...node.records]).toEqual([]);
        expect(node.inner).toBeUndefined();
      }
    }
  });
});

test('a deletion removes an unfinished snapshot by its tag, and keeps another one', () => {
  const node = snapshotted();
  const other = { ...wantedSnap, uid: RESTORED_UID, name: `snap-${RESTORED_UID}` };
  node.crash(stepsOf(planThinSnapshot('take', other, node.snapshot())), 0, 'half');
  expect(thinBytes(wantedSnap, node.snapshot())).toBe(1n << 30n);
  settle(node, () => stepsOf(planThinSnapshot('delete', other, node.snapshot())));
  expect(node.volumes.map(({ facts }) => facts.name)).toEqual(['data1', SNAP]);
  expect(isTagged(node.named(SNAP)?.facts as never, SNAP_UID)).toBe(true);
});
