import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { NodeHold } from '../../../src/storage/shared-fs/types.ts';
import type { VolumeOperation } from '../../../src/storage/types.ts';
import { FakeShare, FakeSharer, Stopped } from '../../support/fake-shared.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { FILE } from '../../support/volume-input.ts';

/**
 * Jobs of several nodes on one file, interleaved by preconditions and commands in any order. Each
 * starts from an observation that may be old, and may crash anywhere. The file must never be
 * attached where it may not be.
 */

type Event =
  /** Plans and starts a job. A node's running job continues first, as nodes run one at a time. */
  | { what: 'begin'; node: number; operation: VolumeOperation; old: boolean; readOnly: boolean }
  | { what: 'go on'; node: number; count: number }
  | { what: 'crash'; node: number }
  | { what: 'reboot'; node: number }
  /**
   * Toggles the use of its device: `losetup -d` of a used device reports success, but leaves it.
   */
  | { what: 'use'; node: number }
  /** The node is off, and that is confirmed. */
  | { what: 'off'; node: number }
  | { what: 'on'; node: number };

const NODES = 3;
const node = fc.nat({ max: NODES - 1 });
const eventOf = (kinds: fc.Arbitrary<boolean>): fc.Arbitrary<Event> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        what: fc.constant('begin' as const),
        node,
        operation: fc.constantFrom<VolumeOperation>('attach', 'attach', 'detach'),
        old: fc.boolean(),
        readOnly: kinds,
      }),
    },
    {
      weight: 12,
      arbitrary: fc.record({
        what: fc.constant('go on' as const),
        node,
        count: fc.oneof(fc.integer({ min: 1, max: 14 }), fc.constant(100)),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        what: fc.constantFrom('crash', 'reboot', 'use', 'off', 'on'),
        node,
      }) as fc.Arbitrary<Event>,
    },
  );

class World {
  readonly share = new FakeShare();
  readonly nodes = Array.from(
    { length: NODES },
    (_, at) => new FakeSharer(`n${at + 1}`, this.share),
  );
  readonly jobs: (Generator<void> | undefined)[] = [];
  readonly off = new Set<number>();
  /** The last observation of the directory by each node, as a cache would return it. */
  readonly seen: (ReturnType<FakeShare['observe']> | undefined)[] = [];

  apply(event: Event): void {
    const own = this.nodes[event.node] as FakeSharer;
    switch (event.what) {
      case 'begin':
        if (!this.off.has(event.node) && this.jobs[event.node] === undefined)
          this.#begin(event, own);
        return;
      case 'go on':
        for (let count = 0; count < event.count; count++) this.#step(event.node);
        return;
      case 'use':
        own.busy = !own.busy;
        return;
      case 'crash':
        this.jobs[event.node] = undefined;
        return;
      case 'reboot':
      case 'off':
        this.jobs[event.node] = undefined;
        own.reboot();
        this.seen[event.node] = undefined;
        if (event.what === 'off') this.off.add(event.node);
        return;
      case 'on':
        this.off.delete(event.node);
    }
  }

  /** Returns the records that nodes which are off left in the directory. */
  dead(): NodeHold[] {
    const { owners, marks } = this.share.observe('');
    const holders = [
      ...owners.map(({ state }) => ('by' in state ? state.by : undefined)),
      ...marks.map(({ by }) => by),
    ];
    return holders
      .filter((by) => by !== undefined)
      .filter((by) => this.off.has(this.nodes.findIndex(({ name }) => name === by.node)));
  }

  #begin(event: Extract<Event, { what: 'begin' }>, own: FakeSharer): void {
    own.attempts++;
    const observed = own.observe();
    const before = this.seen[event.node];
    this.seen[event.node] = observed.shared;
    const desired = own.desired({ readOnly: event.readOnly }, this.dead());
    try {
      const looked = event.old && before !== undefined ? { ...observed, shared: before } : observed;
      this.jobs[event.node] = own.run(own.steps(event.operation, desired, looked));
    } catch (error) {
      // The plan is a refusal.
      if (!(error instanceof Error) || error instanceof Stopped) throw error;
    }
  }

  #step(at: number): void {
    try {
      if (this.jobs[at]?.next().done) this.jobs[at] = undefined;
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      this.jobs[at] = undefined;
    }
  }

  check(): void {
    const writers = this.nodes.filter(({ attached }) => attached === 'rw').length;
    const readers = this.nodes.filter(({ attached }) => attached === 'ro').length;
    if (writers > 1 || (writers === 1 && readers > 0)) {
      throw new Error(
        `attached: ${this.nodes.map(({ name, attached }) => `${name} ${attached}`).join(', ')}`,
      );
    }
  }
}

const kinds: [string, fc.Arbitrary<boolean>][] = [
  ['writers', fc.constant(false)],
  ['readers', fc.constant(true)],
  ['both', fc.boolean()],
];

describe('a shared file with concurrent jobs', () => {
  test.each(kinds)('has either one writer or only readers: %s', (_, readOnly) => {
    fc.assert(
      fc.property(fc.array(eventOf(readOnly), { maxLength: 60 }), (events) => {
        const world = new World();
        for (const event of events) {
          world.apply(event);
          world.check();
        }
      }),
      { seed: TEST_SEED, numRuns: 1500 },
    );
  });

  test.each(kinds)(
    'is attached and deleted as requested once all other jobs have ended: %s',
    (_, readOnly) => {
      fc.assert(
        fc.property(
          fc.array(eventOf(readOnly), { maxLength: 40 }),
          node,
          readOnly,
          (events, at, reads) => {
            const world = new World();
            for (const event of events) world.apply(event);
            for (const own of world.nodes) own.busy = false;
            const wanted = world.nodes[at] as FakeSharer;
            const settle = (
              own: FakeSharer,
              operation: VolumeOperation,
              more: { readOnly: boolean },
            ) => {
              for (let round = 0; round < 4; round++) {
                own.attempts++;
                const steps = own.steps(operation, own.desired(more, []));
                if (steps.length === 0) return;
                own.finish(steps);
              }
              throw new Error(`${operation} does not end`);
            };
            for (const own of world.nodes)
              settle(own, 'detach', { readOnly: own.attached === 'ro' });
            settle(wanted, 'attach', { readOnly: reads });
            expect(wanted.attached).toBe(reads ? 'ro' : 'rw');
            settle(wanted, 'detach', { readOnly: reads });
            settle(wanted, 'delete', { readOnly: reads });
            expect([...world.share.names.keys()].filter((path) => path.startsWith(FILE))).toEqual(
              [],
            );
          },
        ),
        { seed: TEST_SEED, numRuns: 500 },
      );
    },
  );
});
