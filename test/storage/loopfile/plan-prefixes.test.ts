import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { freeLoopNumber } from '../../../src/storage/loops.ts';
import { plan } from '../../../src/storage/plan.ts';
import { DIRECTORIES } from '../../../src/storage/records.ts';
import type { DesiredSparse, VolumeOperation } from '../../../src/storage/types.ts';
import { FakeNode, type Killed } from '../../support/fake-node.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { FILE, sparseDesired, UID } from '../../support/volume-input.ts';

/**
 * Interrupts a plan after any prefix, inside its last step: planning again must reach the same
 * result.
 */

const fresh: DesiredSparse = sparseDesired;

interface Crash {
  /** Position of the interrupted step as a fraction of the remaining steps. */
  where: number;
  killed: Killed;
  reboot: boolean;
  /** Set if another program's loop device appears or disappears. */
  other: boolean;
}

/** Kinds of files. test/storage/shared-fs/interleaved.test.ts tests shared ones. */
type Kind = Partial<Pick<DesiredSparse, 'onDemand' | 'readOnly'>>;
const KINDS: readonly Kind[] = [
  {},
  { readOnly: true },
  { onDemand: true },
  { onDemand: true, readOnly: true },
];
const kinds = fc.constantFrom(...KINDS);

const crash: fc.Arbitrary<Crash> = fc.record({
  where: fc.double({ min: 0, max: 1, noNaN: true }),
  killed: fc.constantFrom('before', 'half', 'after'),
  reboot: fc.boolean(),
  other: fc.boolean(),
});
const crashes = fc.array(crash, { maxLength: 6 });

function stepsOf(node: FakeNode, operation: VolumeOperation, desired: DesiredSparse) {
  const observed = node.observe(desired);
  const made = plan(operation, desired, observed, freeLoopNumber(observed.loops, new Set()));
  if ('refusal' in made) throw new Error(`${operation} refused: ${made.refusal}`);
  if (observed.done && operation !== 'delete') {
    const programs = made.steps.map(({ argv }) => argv[0]);
    expect(programs).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(mkfs.*|rm)$/)]));
    // The file of a complete volume can only grow.
    if (desired.sizeBytes <= fresh.sizeBytes) expect(programs).not.toContain('truncate');
  }
  return made.steps;
}

function interrupt(
  node: FakeNode,
  operation: VolumeOperation,
  desired: DesiredSparse,
  crashed: readonly Crash[],
): void {
  for (const { where, killed, reboot, other } of crashed) {
    const steps = stepsOf(node, operation, desired);
    node.crash(steps, Math.floor(where * steps.length), killed);
    if (reboot) node.reboot();
    if (other) toggleOther(node);
  }
}

function finish(node: FakeNode, operation: VolumeOperation, desired: DesiredSparse): void {
  node.run(stepsOf(node, operation, desired));
  expect(stepsOf(node, operation, desired)).toEqual([]);
}

/** Takes the lowest free number, which the next plan would have used, or releases it. */
function toggleOther(node: FakeNode): void {
  const ours = [...node.loops].find(([, { file }]) => file === '/other');
  if (ours !== undefined) {
    node.loops.delete(ours[0]);
    return;
  }
  let number = 0;
  while (node.loops.has(number)) number++;
  node.loops.set(number, { file: '/other', inode: 7 });
}

/** Returns everything that exists of the volume. */
function ownFacts(node: FakeNode, desired: DesiredSparse) {
  const { file, partial, signature, intent, done, recordFiles, loops, link } =
    node.observe(desired);
  const own = loops.filter(({ backingFile }) => backingFile.startsWith(FILE));
  return {
    file: file.type,
    partial: partial.type,
    signature,
    intent,
    done,
    recordFiles,
    loops: own.length,
    readOnly: own[0]?.readOnly,
    linked: link !== undefined && link === own[0]?.device,
    // The record of the directory stays, like the directory.
    files: [...node.files.keys()].filter((path) => !path.startsWith(DIRECTORIES)).sort(),
  };
}

function prepared() {
  const node = new FakeNode();
  finish(node, 'provision', fresh);
  return ownFacts(node, fresh);
}

const NOTHING = { ...ownFacts(new FakeNode(), fresh) };

test('a volume reaches the same state after any interruption, and is never recreated', () => {
  expect(prepared()).toMatchObject({
    file: 'file',
    partial: 'missing',
    done: { sizeBytes: fresh.sizeBytes },
    loops: 1,
    linked: true,
  });
  fc.assert(
    fc.property(
      kinds,
      crashes,
      fc.boolean(),
      crashes,
      crashes,
      (kind, preparing, recorded, detaching, attaching) => {
        const node = new FakeNode();
        const made = { ...fresh, ...kind };
        interrupt(node, 'provision', made, preparing);
        finish(node, 'provision', made);
        const detached = { ...prepared(), loops: 0, readOnly: undefined, linked: false };
        const attached = { ...prepared(), readOnly: kind.readOnly ?? false };
        expect(ownFacts(node, made)).toEqual(kind.onDemand ? detached : attached);

        const desired = { ...made, recorded };
        const inode = node.files.get(FILE)?.inode;
        interrupt(node, 'detach', desired, detaching);
        finish(node, 'detach', desired);
        expect(ownFacts(node, desired)).toEqual(detached);
        interrupt(node, 'attach', desired, attaching);
        finish(node, recorded || kind.onDemand ? 'attach' : 'provision', desired);
        expect(ownFacts(node, desired)).toEqual(attached);
        expect(node.files.get(FILE)?.inode).toBe(inode);
      },
    ),
    { seed: TEST_SEED, numRuns: 500 },
  );
});

test('a populated file gets its final name only once it is complete', () => {
  const fill = { builtin: 'Image', what: 'Image a/b', options: { source: 'http://a/b' } } as const;
  fc.assert(
    fc.property(kinds, crashes, (kind, preparing) => {
      const node = new FakeNode();
      const made = { ...fresh, ...kind, fill };
      for (const each of preparing) {
        interrupt(node, 'provision', made, [each]);
        const named = node.files.get(FILE);
        if (named !== undefined) expect(named).toMatchObject({ data: 'http://a/b' });
        expect(named ?? {}).not.toHaveProperty('torn');
      }
      finish(node, 'provision', made);
      expect(node.files.get(FILE)).toMatchObject({ data: 'http://a/b', uuid: UID });
      expect(node.files.get(FILE)).not.toHaveProperty('torn');
      expect(node.files.has(`${FILE}.partial`)).toBe(false);
    }),
    { seed: TEST_SEED, numRuns: 500 },
  );
});

test('a deletion removes everything after any interruption of it or of provisioning', () => {
  fc.assert(
    fc.property(kinds, crashes, fc.boolean(), crashes, (kind, preparing, whole, destroying) => {
      const node = new FakeNode();
      const made = { ...fresh, ...kind };
      interrupt(node, 'provision', made, preparing);
      if (whole) {
        finish(node, 'provision', made);
        finish(node, 'attach', made);
      }
      const desired = { ...made, recorded: whole };
      interrupt(node, 'delete', desired, destroying);
      finish(node, 'delete', desired);
      expect(ownFacts(node, desired)).toEqual(NOTHING);
    }),
    { seed: TEST_SEED, numRuns: 500 },
  );
});

test('an expansion completes after any interruption, even if the device is lost', () => {
  const larger = { ...fresh, recorded: true, sizeBytes: 3n * fresh.sizeBytes };
  fc.assert(
    fc.property(crashes, crashes, (growing, again) => {
      const node = new FakeNode();
      finish(node, 'provision', fresh);
      const inode = node.files.get(FILE)?.inode;
      interrupt(node, 'attach', { ...larger, sizeBytes: 2n * fresh.sizeBytes }, growing);
      // A second expansion was requested before the first was complete.
      interrupt(node, 'attach', larger, again);
      for (let round = 0; round < 3; round++) node.run(stepsOf(node, 'attach', larger));
      expect(stepsOf(node, 'attach', larger)).toEqual([]);
      expect(node.files.get(FILE)).toMatchObject({
        uuid: UID,
        inode,
        sizeBytes: larger.sizeBytes,
        fsBytes: larger.sizeBytes,
      });
      expect(ownFacts(node, larger)).toEqual({
        ...prepared(),
        done: { sizeBytes: larger.sizeBytes },
      });
      expect(node.mounts.size).toBe(0);
    }),
    { seed: TEST_SEED, numRuns: 300 },
  );
});

test('provisioning and deletion recover from a crash in each step', () => {
  const ways: Killed[] = ['before', 'half', 'after'];
  const total = stepsOf(new FakeNode(), 'provision', fresh).length;
  for (let number = 0; number <= total; number++) {
    for (const killed of ways) {
      const make = () => {
        const node = new FakeNode();
        node.crash(stepsOf(node, 'provision', fresh), number, killed);
        return node;
      };
      const node = make();
      finish(node, 'provision', fresh);
      expect(ownFacts(node, fresh)).toEqual(prepared());
      const steps = stepsOf(make(), 'delete', fresh).length;
      for (let step = 0; step <= steps; step++) {
        for (const way of ways) {
          const other = make();
          other.crash(stepsOf(other, 'delete', fresh), step, way);
          finish(other, 'delete', fresh);
          expect(ownFacts(other, fresh)).toEqual(NOTHING);
        }
      }
    }
  }
});

test('a mkfs that was killed after it wrote the UUID is repeated', () => {
  const node = new FakeNode();
  const steps = stepsOf(node, 'provision', fresh);
  const mkfs = steps.findIndex(({ argv }) => argv[0] === 'mkfs.ext4');
  node.crash(steps, mkfs, 'after');
  expect(stepsOf(node, 'provision', fresh).map(({ argv }) => argv[0])).toContain('mkfs.ext4');
  finish(node, 'provision', fresh);
  expect(ownFacts(node, fresh)).toEqual(prepared());
});
