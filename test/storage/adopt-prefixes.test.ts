import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Step } from '../../src/nodes/job.ts';
import { uidsIn } from '../../src/storage/lvm/names.ts';
import { plan } from '../../src/storage/plan.ts';
import { RECORDS } from '../../src/storage/records.ts';
import type { Desired } from '../../src/storage/registry.ts';
import { ownerPath } from '../../src/storage/shared-fs/names.ts';
import { textOf } from '../../src/storage/shared-fs/text.ts';
import type {
  DesiredLvm,
  DesiredRaw,
  DesiredSparse,
  VolumeOperation,
} from '../../src/storage/types.ts';
import { FakeDisks, fakeDisk, Raced } from '../support/fake-disk.ts';
import { FakeLvm } from '../support/fake-lvm.ts';
import { FakeNode, type Killed } from '../support/fake-node.ts';
import { lvmDesired } from '../support/lvm-input.ts';
import { writesTo } from '../support/plans.ts';
import { rawDesired } from '../support/raw-input.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { sparseDesired, UID } from '../support/volume-input.ts';

/**
 * Storage of the Volume old1 appears on another node, and data1 adopts it there. After an
 * interruption anywhere, the adoption completes, or is undone so that another Volume can adopt the
 * storage.
 */

const OLD = '11111111-2222-4333-8444-555555555555';
const THIRD = '99999999-2222-4333-8444-555555555555';

/** A node with one kind of storage, behind a common interface. */
interface Scene<D extends Desired> {
  desired(uid: string, name: string): D;
  plan(operation: VolumeOperation, desired: D): ReturnType<typeof plan>;
  run(steps: readonly Step[]): void;
  crash(steps: readonly Step[], number: number, killed: Killed): void;
  reboot(): void;
  /** Data that pods wrote. */
  data(): unknown;
  /** UIDs in the names of the storage. */
  names(): string[];
  records(): string[];
  /** Reports whether the persistent link leads to the adopted storage. */
  isLinked(desired: D): boolean;
  move(): void;
}

function file(type: 'ext4' | 'xfs'): Scene<DesiredSparse> {
  const node = new FakeNode();
  const folder = '/var/lib/metalk8s/storage/sparse';
  const beside = ([path]: [string, unknown]) => path.includes('.owner.');
  const all = () => [...node.files].filter(([path]) => path.startsWith(folder));
  const own = () => all().filter((each) => !beside(each));
  return {
    desired: (uid, name) => ({
      ...sparseDesired,
      uid,
      name,
      file: `${folder}/${uid}`,
    }),
    plan: (operation, desired) => plan(operation, desired, node.observe(desired), 0),
    run: (steps) => node.run(steps),
    crash: (steps, number, killed) => node.crash(steps, number, killed),
    reboot: () => node.reboot(),
    data: () => own().map(([, { data, inode, torn }]) => ({ data, inode, torn })),
    names: () =>
      all().flatMap(([path, found]) => [
        ...('uuid' in found ? [found.uuid] : []),
        path.slice(folder.length + 1).replace(/\.owner\..*/, ''),
      ]),
    records: () => [...node.files.keys()].filter((path) => path.startsWith(RECORDS)),
    isLinked: (desired) => node.observe(desired).link !== undefined,
    move() {
      node.reboot();
      for (const path of [...node.files.keys()])
        if (path.startsWith('/var/lib/stowage')) node.files.delete(path);
      for (const [, each] of own()) Object.assign(each, { data: 'of a pod', type });
      // Nodes had it attached on a shared directory, and detached it.
      const by = { node: 'n9', bootId: '00000000-0000-4000-8000-000000000009', token: 'v1' };
      for (const number of [3, 4]) {
        const text = textOf('free', by);
        node.files.set(ownerPath(`${folder}/${OLD}`, number), {
          text,
          inode: number,
          sizeBytes: 0n,
        });
      }
    },
  };
}

function disk(content: 'ext4' | 'xfs' | 'Block'): Scene<DesiredRaw> {
  const node = new FakeDisks(fakeDisk('sdb', { id: 'ours' }), fakeDisk('sdc', { id: 'other' }));
  const [own] = node.disks as [(typeof node.disks)[0]];
  const fs = content === 'Block' ? undefined : { type: content, options: [] };
  return {
    desired: (uid, name) => ({
      ...rawDesired,
      ...{ uid, name, fs, mode: content === 'Block' ? 'Block' : 'Filesystem' },
      devicePath: '/dev/disk/by-id/ours',
    }),
    plan: (operation, desired) => plan(operation, desired, node.observe(desired), 0),
    run: (steps) => node.run(steps),
    crash: (steps, number, killed) => node.crash(steps, number, killed),
    reboot: () => node.reboot(false),
    data: () => own.marks.filter(({ type, torn }) => type === '' || torn),
    names: () =>
      content === 'Block'
        ? [own.table.uuid, ...[...own.table.partitions.values()].map(({ guid }) => guid)]
        : own.marks.flatMap(({ uuid }) => uuid ?? []),
    records: () => [...node.records.keys()],
    isLinked: (desired) => node.observe(desired).link !== undefined,
    move() {
      node.records.clear();
      own.marks.push({ at: own.sizeBytes / 2n, type: '' });
      node.reboot(false);
      node.written.clear();
    },
  };
}

function logicalVolume(content: 'ext4' | 'xfs' | 'Block'): Scene<DesiredLvm> {
  const node = new FakeLvm();
  const fs = content === 'Block' ? undefined : { type: content, options: [] };
  return {
    desired: (uid, name) => ({
      ...lvmDesired,
      ...{ uid, name, fs, mode: content === 'Block' ? 'Block' : 'Filesystem' },
    }),
    plan: (operation, desired) => plan(operation, desired, node.observe(desired), 0),
    run: (steps) => node.run(steps),
    crash: (steps, number, killed) => node.crash(steps, number, killed),
    reboot: () => node.reboot(),
    data: () => node.made?.data,
    names: () => [
      ...uidsIn(node.made?.facts.tags ?? []),
      ...(content === 'Block' ? [] : [node.made?.content.split(':')[1] ?? '']),
    ],
    records: () => [...node.records.keys()],
    isLinked: () => node.linked,
    move() {
      node.records.clear();
      node.reboot();
      if (node.made) node.made.data = 'of a pod';
    },
  };
}

const KINDS: [string, () => Scene<Desired>][] = [
  ['a file with ext4', () => file('ext4') as unknown as Scene<Desired>],
  ['a file with xfs', () => file('xfs') as unknown as Scene<Desired>],
  ['a disk with ext4', () => disk('ext4') as unknown as Scene<Desired>],
  ['a disk with xfs', () => disk('xfs') as unknown as Scene<Desired>],
  ['a disk of mode Block', () => disk('Block') as unknown as Scene<Desired>],
  ['a logical volume with ext4', () => logicalVolume('ext4') as unknown as Scene<Desired>],
  ['a logical volume with xfs', () => logicalVolume('xfs') as unknown as Scene<Desired>],
  ['a logical volume of mode Block', () => logicalVolume('Block') as unknown as Scene<Desired>],
];

function stepsOf(
  scene: Scene<Desired>,
  operation: VolumeOperation,
  desired: Desired,
): readonly Step[] {
  const made = scene.plan(operation, desired);
  if ('refusal' in made) throw new Error(`${operation} refused: ${made.refusal}`);
  const programs = made.steps.map(({ argv }) => argv[0]);
  if (desired.adopt !== undefined) {
    expect(
      programs.filter((name) => /^(mkfs|wipefs|truncate|lvcreate|lvremove)/.test(name ?? '')),
    ).toEqual([]);
  }
  return made.steps;
}

/** Ignores a conflict: a disk's link may appear late, and the operation is then planned again. */
function raceable(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Raced)) throw error;
  }
}

function finish(scene: Scene<Desired>, operation: VolumeOperation, desired: Desired): void {
  for (let round = 0; round < 5; round++) {
    const steps = stepsOf(scene, operation, desired);
    if (steps.length === 0) return;
    raceable(() => scene.run(steps));
  }
  expect(stepsOf(scene, operation, desired)).toEqual([]);
}

interface Crash {
  /** Index of the interrupted step in thousandths of the remaining steps. */
  at: number;
  killed: Killed;
  reboot: boolean;
}
const crashes = fc.array(
  fc.record<Crash>({
    at: fc.nat({ max: 999 }),
    killed: fc.constantFrom('before', 'half', 'after'),
    reboot: fc.boolean(),
  }),
  { maxLength: 5 },
);

function interrupt(
  scene: Scene<Desired>,
  operation: VolumeOperation,
  desired: Desired,
  crashed: readonly Crash[],
): void {
  for (const { at, killed, reboot } of crashed) {
    const steps = stepsOf(scene, operation, desired);
    raceable(() => scene.crash(steps, Math.floor((at * steps.length) / 1000), killed));
    if (reboot) scene.reboot();
  }
}

const adopting = (scene: Scene<Desired>, uid: string, name: string, from: string): Desired => ({
  ...scene.desired(uid, name),
  onDelete: 'Retain',
  adopt: from,
});

/** Returns the storage after its disk was moved to the node. */
function moved(start: () => Scene<Desired>) {
  const scene = start();
  finish(scene, 'provision', scene.desired(OLD, 'old1'));
  scene.move();
  return { scene, data: scene.data() };
}

function expectOnly(scene: Scene<Desired>, uid: string): void {
  expect([...new Set(scene.names())]).toEqual([uid]);
}

describe.each(KINDS)('%s', (_, start) => {
  test('is adopted with its data after interruptions at any step', () => {
    fc.assert(
      fc.property(crashes, fc.boolean(), (crashed, recorded) => {
        const { scene, data } = moved(start);
        const desired = adopting(scene, UID, 'data1', OLD);
        interrupt(scene, 'provision', desired, crashed);
        finish(scene, 'provision', desired);
        expectOnly(scene, UID);
        expect(scene.data()).toEqual(data);
        expect(scene.isLinked(desired)).toBe(true);
        expect(scene.records().filter((path) => path.includes(OLD))).toEqual([]);
        const made = { ...desired, recorded };
        scene.reboot();
        finish(scene, 'attach', made);
        expect(scene.data()).toEqual(data);
        // An adopted volume is deleted like any other.
        finish(scene, 'delete', { ...made, onDelete: 'Retain' });
        expect(scene.records()).toEqual([]);
        expect(scene.data()).toEqual(data);
      }),
      { seed: TEST_SEED, numRuns: 40 },
    );
  });

  test.each(['Retain', 'Delete', 'Wipe'] as const)(
    'returns to its earlier UID when deleted with %s during adoption',
    (onDelete) => {
      for (const killed of ['half', 'after'] as const) {
        let count = 1;
        for (let number = 0; number < count; number++) {
          const { scene, data } = moved(start);
          const desired = { ...adopting(scene, UID, 'data1', OLD), onDelete };
          let steps = stepsOf(scene, 'provision', desired);
          // An inactive logical volume is activated first.
          if (steps.every(({ argv }) => !argv.join(' ').includes('.intent'))) {
            scene.run(steps);
            steps = stepsOf(scene, 'provision', desired);
          }
          const done = steps.findIndex(({ argv }) => argv.at(-1)?.endsWith('.done'));
          count = done;
          raceable(() => scene.crash(steps, number, killed));
          finish(scene, 'delete', desired);
          expect(scene.records()).toEqual([]);
          expect(scene.data()).toEqual(data);
          const [uid = ''] = scene.names();
          expect(uid).toBe(OLD);
          expectOnly(scene, uid);
          const third = adopting(scene, THIRD, 'data3', uid);
          finish(scene, 'provision', third);
          expectOnly(scene, THIRD);
          expect(scene.data()).toEqual(data);
        }
        expect(count).toBeGreaterThan(3);
      }
    },
  );

  test('is refused to a second Volume once one has adopted it', () => {
    const { scene, data } = moved(start);
    const one = adopting(scene, UID, 'data1', OLD);
    const two = adopting(scene, THIRD, 'data3', OLD);
    // Planned in sequence. In the next test, both are planned before either runs.
    finish(scene, 'provision', one);
    expect(scene.plan('provision', two)).toMatchObject({ refusal: expect.anything() });
    expectOnly(scene, UID);
    expect(scene.data()).toEqual(data);
    expect(writesTo(stepsOf(scene, 'provision', one))).toEqual([]);
  });

  test('fails the preconditions of a plan made before another Volume adopted it', () => {
    const { scene, data } = moved(start);
    const one = adopting(scene, UID, 'data1', OLD);
    const two = adopting(scene, THIRD, 'data3', OLD);
    let late = stepsOf(scene, 'provision', two);
    if (late.every(({ argv }) => !argv.join(' ').includes('.intent'))) {
      scene.run(late);
      late = stepsOf(scene, 'provision', two);
    }
    finish(scene, 'provision', one);
    expect(() => scene.run(late)).toThrow(/precondition of/);
    expectOnly(scene, UID);
    expect(scene.data()).toEqual(data);
  });
});
