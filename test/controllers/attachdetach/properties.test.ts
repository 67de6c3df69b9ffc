import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Managed } from '../../../src/controllers/attachdetach/types.ts';
import { always, onDemand, shared } from '../../support/attachment-view.ts';
import { AttachmentWorld, type Outcome } from '../../support/attachment-world.ts';
import { TEST_SEED } from '../../support/test-seed.ts';

/**
 * Events in any order. The world checks invariants at every step, and throws. Once events cease,
 * the device is attached where it is needed, the state is known, and no operation starts.
 */

const MAX_WAIT = 2000;

type Event = (world: AttachmentWorld) => void;

// A volume with a single node is on n1.
const node = fc.constantFrom('n1', 'n1', 'n2', 'n3');
const some = fc.nat({ max: 2 });
const onPod = (change: (pod: AttachmentWorld['pods'][number]) => void) =>
  some.map(
    (at): Event =>
      (world) => {
        // Only the latest pods, as earlier ones no longer exist.
        const pod = world.pods.at(-1 - at);
        if (pod !== undefined) change(pod);
      },
  );
const onNode = (change: (world: AttachmentWorld, name: string) => void) =>
  node.map(
    (name): Event =>
      (world) =>
        change(world, name),
  );
const just = (event: Event) => fc.constant(event);
const outcome: fc.Arbitrary<Outcome> = fc.constantFrom(
  'done',
  'done',
  'failed',
  'lost',
  'lost-and-late',
);

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: just((world) => void world.step()) },
  { weight: 25, arbitrary: just((world) => world.work()) },
  {
    weight: 8,
    arbitrary: outcome.map(
      (end): Event =>
        (world) =>
          world.finish(end),
    ),
  },
  { weight: 8, arbitrary: onNode((world, name) => world.schedule(name)) },
  { weight: 3, arbitrary: just((world) => world.mount()) },
  { weight: 2, arbitrary: just((world) => world.unmount()) },
  {
    weight: 3,
    arbitrary: onPod((pod) => Object.assign(pod, { life: pod.life === 'gone' ? 'gone' : 'ended' })),
  },
  { weight: 3, arbitrary: onPod((pod) => Object.assign(pod, { life: 'gone' })) },
  { weight: 1, arbitrary: onPod((pod) => Object.assign(pod, { claim: false })) },
  { weight: 1, arbitrary: onNode((world, name) => world.silence(name)) },
  { weight: 1, arbitrary: onNode((world, name) => world.stopKubelet(name)) },
  { weight: 1, arbitrary: onNode((world, name) => world.powerOff(name)) },
  { weight: 3, arbitrary: onNode((world, name) => world.taint(name)) },
  { weight: 5, arbitrary: onNode((world, name) => world.comeBack(name)) },
  {
    weight: 1,
    arbitrary: onNode((world, name) => Object.assign(world.node(name), { exists: false })),
  },
  { weight: 2, arbitrary: onNode((world, name) => world.finishPending(name)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('current', 'current', 'older', 'newer'), node).map(
      ([record, name]): Event =>
        (world) =>
          world.restart(record, name),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (paused): Event =>
        (world) =>
          void Object.assign(world, { paused }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.nat({ max: 2 * MAX_WAIT }).map(
      (ms): Event =>
        (world) => {
          world.now += ms;
        },
    ),
  },
);

/** Returns the names of running nodes with a device of that kind. */
const devices = (world: AttachmentWorld, kind: 'rw' | 'ro') =>
  [...world.nodes.values()]
    .filter(({ on, device }) => on && device === kind)
    .map(({ name }) => name);

const kinds: [string, Managed][] = [
  ['Always', always({ maxWaitForUnmountMs: MAX_WAIT })],
  ['on demand', onDemand({ maxWaitForUnmountMs: MAX_WAIT })],
  ['shared', shared({ maxWaitForUnmountMs: MAX_WAIT })],
  ['shared by readers', shared({ readOnly: true, maxWaitForUnmountMs: MAX_WAIT })],
];

test.each(kinds)('a volume that is %s has at most one writer, and converges', (_, volume) => {
  const many = volume.nodes.length > 1;
  fc.assert(
    fc.property(
      fc.noBias(fc.array(event, { maxLength: 150, size: 'max' })),
      fc.boolean(),
      (events, deleted) => {
        const world = new AttachmentWorld(volume);
        for (const happens of events) {
          happens(world);
          const writable = devices(world, 'rw');
          if (writable.length > (volume.readOnly ? 0 : 1))
            throw new Error(`written on ${writable.join(', ')}`);
        }
        world.deleting = deleted;
        world.calm();
        world.settle();

        const having = volume.readOnly ? devices(world, 'ro') : devices(world, 'rw');
        const { wantedOn } = world;
        if (deleted) expect(wantedOn.length >= having.length).toBe(true);
        else if (volume.readOnly || !many) expect(having).toEqual(wantedOn);
        else expect(having.length).toBe(Math.min(wantedOn.length, 1));
        for (const name of having) expect(wantedOn).toContain(name);
        expect(world.entries.map((entry) => entry.node)).toEqual(having);
        for (const { state, safeToMount, readOnly } of world.entries) {
          expect([state, safeToMount, readOnly]).toEqual(['Attached', true, volume.readOnly]);
        }
        const { started } = world;
        for (let round = 0; round < 3; round++) {
          world.now += 100 * MAX_WAIT;
          expect(world.step()).toMatchObject({ start: undefined, forced: [], again: undefined });
        }
        expect(world.started).toBe(started);
      },
    ),
    { seed: TEST_SEED, numRuns: 150 },
  );
});
