import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Step } from '../../../src/nodes/job.ts';
import { plan } from '../../../src/storage/plan.ts';
import type { Fill } from '../../../src/storage/populate/types.ts';
import type { DesiredLvm, VolumeOperation } from '../../../src/storage/types.ts';
import { FakeLvm, FILLED, Guarded } from '../../support/fake-lvm.ts';
import type { Killed } from '../../support/fake-node.ts';
import { GIB, lvmDesired } from '../../support/lvm-input.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { UID } from '../../support/volume-input.ts';

/**
 * Interrupts a plan after any prefix, inside its last step: planning again must reach the same
 * result.
 */

const OLD = 'xfs:11111111-2222-4333-8444-555555555555';
const CONTENTS = ['ext4', 'xfs', 'Block'] as const;
const KINDS = ['thick', 'thin', 'thin, not sent to its pool'] as const;
const FILLS = ['empty', 'filled', 'zeroed'] as const;
const FATES = ['Retain', 'Delete', 'Wipe'] as const;

const fill: Fill = {
  builtin: 'Image',
  what: 'Image prod/debian',
  options: { source: '/images/debian' },
};

function desiredFor(
  kind: (typeof KINDS)[number],
  content: (typeof CONTENTS)[number],
  filled: (typeof FILLS)[number],
): DesiredLvm {
  return {
    ...lvmDesired,
    fill: filled === 'filled' ? fill : undefined,
    ...(filled === 'zeroed' ? { zeroed: true } : {}),
    thinPool: kind === 'thick' ? undefined : 'pool',
    ...(content === 'Block'
      ? { mode: 'Block', fs: undefined }
      : { mode: 'Filesystem', fs: { type: content, options: [] } }),
  };
}

function stepsOf(node: FakeLvm, operation: VolumeOperation, desired: DesiredLvm): readonly Step[] {
  const observed = node.observe(desired);
  const made = plan(operation, desired, observed, 0);
  if ('refusal' in made) throw new Error(`${operation} refused: ${made.refusal}`);
  if (observed.done !== undefined) {
    expect(made.steps.filter(({ argv }) => /^(mkfs|lvcreate)/.test(argv[0] ?? ''))).toEqual([]);
  }
  return made.steps;
}

interface Crash {
  /** Returns the index of the interrupted step among the remaining ones. */
  at: (steps: number) => number;
  killed: Killed;
  reboot: boolean;
}
const crashes = fc.array(
  fc.record<Crash>({
    // Random doubles are mostly near their limits.
    at: fc
      .nat({ max: 999 })
      .map((thousandths) => (steps) => Math.floor((thousandths * steps) / 1000)),
    killed: fc.constantFrom('before', 'half', 'after'),
    reboot: fc.boolean(),
  }),
  { maxLength: 5 },
);

/** Runs steps. The next plan continues if an unfinished volume could be activated. */
function untilGuarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Guarded)) throw error;
  }
}

function live(
  node: FakeLvm,
  operation: VolumeOperation,
  desired: DesiredLvm,
  crashed: readonly Crash[],
): void {
  for (const { at, killed, reboot } of crashed) {
    const steps = stepsOf(node, operation, desired);
    untilGuarded(() => node.crash(steps, at(steps.length), killed));
    if (reboot) node.reboot();
  }
  for (let round = 0; round < 6; round++) {
    const steps = stepsOf(node, operation, desired);
    if (steps.length === 0) return;
    untilGuarded(() => node.run(steps));
  }
  expect(stepsOf(node, operation, desired)).toEqual([]);
}

/** Runs a life for each step that a crash can interrupt, and each way to be killed there. */
function eachCrash(life: (crash: Crash) => void): void {
  for (const killed of ['before', 'half', 'after'] as const) {
    for (const reboot of [false, true]) {
      let count = 1;
      for (let step = 0; step < count; step++) {
        const at = (steps: number) => {
          count = steps;
          return step;
        };
        life({ at, killed, reboot });
      }
    }
  }
}

const CASES = KINDS.flatMap((kind) =>
  CONTENTS.flatMap((content) =>
    FILLS.filter((filled) => filled !== 'zeroed' || content === 'Block').map(
      (filled) => [kind, content, filled] as const,
    ),
  ),
);

describe.each(CASES)('%s with %s, %s', (kind, content, filled) => {
  const wanted = desiredFor(kind, content, filled);
  const inBlock = filled === 'filled' ? 'gpt:of-the-image' : '';
  const data = filled === 'filled' ? FILLED : '';
  const halfThin = kind === 'thin' ? 'unseen' : 'unsent';

  /** Runs a whole life that is interrupted at each of its stages. */
  function whole(
    crashed: { provision: Crash[]; attach: Crash[]; grow: Crash[]; delete: Crash[] },
    onDelete: (typeof FATES)[number],
    old: string,
  ): void {
    const node = new FakeLvm(old, halfThin);
    const desired = { ...wanted, onDelete, ...(old === '' ? {} : { overwrite: old }) };
    live(node, 'provision', desired, crashed.provision);
    const made = node.made;
    if (made === undefined) throw new Error('nothing was made');
    expect(made).toMatchObject({
      content: content === 'Block' ? inBlock : `${content}:${UID}`,
      data,
    });
    if (filled === 'zeroed') expect(made.zeroBytes).toBe(made.facts.sizeBytes);
    expect(node.linked).toBe(true);
    expect(node.isTagged(UID)).toBe(true);
    expect(
      node.destroyed.filter((each) => each !== OLD && !each.endsWith(UID) && each !== inBlock),
    ).toEqual([]);
    made.data = 'kept';
    node.left.content = '';

    const identity = node.observe(desired).target;
    const recorded: DesiredLvm = {
      ...desired,
      recorded: true,
      identity: identity.is === 'device' ? identity.facts.identity : undefined,
    };
    node.reboot();
    live(node, 'attach', recorded, crashed.attach);
    const larger = { ...recorded, sizeBytes: 2n * GIB };
    live(node, 'attach', larger, crashed.grow);
    expect(node.made).toMatchObject({
      data: 'kept',
      mounted: false,
      facts: { sizeBytes: 2n * GIB },
    });
    if (content !== 'Block') expect(node.made?.fsBytes).toBe(2n * GIB);

    live(node, 'delete', larger, crashed.delete);
    expect(node.records.size).toBe(0);
    if (onDelete === 'Retain') {
      expect(node.made?.data).toBe('kept');
      expect(node.isTagged(UID)).toBe(false);
    } else {
      expect(node.made).toBeUndefined();
      if (kind === 'thick') expect(node.left.content).toBe('');
    }
  }

  test('reaches the same state after any interruption', () => {
    const stages = { provision: crashes, attach: crashes, grow: crashes, delete: crashes };
    fc.assert(
      fc.property(
        fc.record(stages),
        fc.constantFrom(...FATES),
        fc.constantFrom('', ...(kind === 'thick' ? [OLD] : [])),
        whole,
      ),
      { seed: TEST_SEED, numRuns: filled === 'filled' ? 40 : 100 },
    );
  });

  test('is expanded without records after any interruption', () => {
    eachCrash((crash) => {
      const node = new FakeLvm('', halfThin);
      live(node, 'provision', wanted, []);
      const { target } = node.observe(wanted);
      node.records.clear();
      const identity = target.is === 'device' ? target.facts.identity : undefined;
      const larger = { ...wanted, recorded: true, identity, sizeBytes: 2n * GIB };
      live(node, 'attach', larger, [crash]);
      expect(node.made).toMatchObject({ facts: { sizeBytes: 2n * GIB } });
      if (content !== 'Block') expect(node.made?.fsBytes).toBe(2n * GIB);
    });
  });

  test('recovers from a crash in each step of each operation', () => {
    const none = { provision: [], attach: [], grow: [], delete: [] };
    // A filled volume is like any other once it is provisioned.
    for (const stage of filled === 'filled' ? ['provision'] : Object.keys(none)) {
      eachCrash((crash) => whole({ ...none, [stage]: [crash] }, 'Delete', ''));
    }
  });

  test('is deleted after provisioning crashed in any step', () => {
    for (const onDelete of FATES) {
      const desired = { ...wanted, onDelete };
      const count = stepsOf(new FakeLvm('', halfThin), 'provision', desired).length;
      for (let number = 0; number < count; number++) {
        for (const killed of ['before', 'half', 'after'] as const) {
          const node = new FakeLvm('', halfThin);
          node.crash(stepsOf(node, 'provision', desired), number, killed);
          const made = node.observe(desired).done !== undefined;
          live(node, 'delete', desired, []);
          expect(node.records.size).toBe(0);
          expect(node.made === undefined).toBe(!made || onDelete !== 'Retain');
          // After a reboot, or without a complete fill, the content may be that of an interrupted
          // mkfs.
          if (kind === 'thick' && node.made === undefined) expect(node.left.content).toBe('');
        }
      }
    }
  });
});

test('content in free extents is never destroyed without consent', () => {
  const refusal = plan('provision', lvmDesired, new FakeLvm(OLD).observe(lvmDesired), 0);
  expect(refusal).toMatchObject({ refusal: expect.stringContaining(OLD) });
  // The extents were clean when observed, and have content when LVM uses them.
  const node = new FakeLvm();
  const steps = stepsOf(node, 'provision', lvmDesired);
  node.left.content = OLD;
  expect(() => node.run(steps)).toThrow('lvcreate asks');
  expect(node.destroyed).toEqual([]);
  const again = plan(
    'provision',
    { ...lvmDesired, overwrite: 'ext4' },
    node.observe(lvmDesired),
    0,
  );
  expect(again).toMatchObject({ refusal: expect.stringContaining(OLD) });
});
