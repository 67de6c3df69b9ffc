import { expect, test } from '@jest/globals';
import { createPlans, PLAN_MS } from '../../../../src/cli/ui/actions/plans.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const PLAN = {
  ...{ argv: ['delete', 'a'], confirm: 'a', question: 'Delete?', losses: 'all' },
  effect: 'deletion',
};

test('a plan is taken once, and has an id of 256 bits', () => {
  const plans = createPlans(new FakeClock());
  const id = plans.add(PLAN, 'key');
  expect(id).toMatch(/^[\w-]{43}$/);
  expect(plans.take(id, 'key', ['delete', 'a'])).toEqual(PLAN);
  expect(plans.take(id, 'key', ['delete', 'a'])).toBeUndefined();
});

test.each([[['delete', 'b']], [['delete']], [['delete', 'a', '--yes']], [[]]])(
  'a plan is not for the arguments %j, and ends with the attempt',
  (argv) => {
    const plans = createPlans(new FakeClock());
    const id = plans.add(PLAN, 'key');
    expect(plans.take(id, 'key', argv)).toBeUndefined();
    expect(plans.take(id, 'key', PLAN.argv)).toBeUndefined();
  },
);

test('a plan ends after 5 min, also if the clock was set back or the machine slept', async () => {
  const clock = new FakeClock();
  const plans = createPlans(clock);
  const [first, second] = [plans.add(PLAN, 'key'), plans.add(PLAN, 'key')];
  await clock.advance(PLAN_MS - 1);
  expect(plans.take(first, 'key', PLAN.argv)).toEqual(PLAN);
  await clock.advance(1);
  expect(plans.take(second, 'key', PLAN.argv)).toBeUndefined();
  const third = plans.add(PLAN, 'key');
  clock.set(-PLAN_MS);
  await clock.advance(PLAN_MS);
  expect(plans.take(third, 'key', PLAN.argv)).toBeUndefined();
  const fourth = plans.add(PLAN, 'key');
  clock.set(PLAN_MS);
  expect(plans.take(fourth, 'key', PLAN.argv)).toBeUndefined();
});

test('a plan is of one session', () => {
  const plans = createPlans(new FakeClock());
  const id = plans.add(PLAN, 'key');
  for (const key of ['', 'another']) expect(plans.take(id, key, PLAN.argv)).toBeUndefined();
  expect(plans.take(id, 'key', PLAN.argv)).toEqual(PLAN);
});

test('another id, or none, is for no plan', () => {
  const plans = createPlans(new FakeClock());
  plans.add(PLAN, 'key');
  for (const id of ['', 'x', '__proto__']) expect(plans.take(id, 'key', PLAN.argv)).toBeUndefined();
});

test('the oldest of many plans ends', () => {
  const plans = createPlans(new FakeClock());
  const ids = Array.from({ length: 65 }, () => plans.add(PLAN, 'key'));
  expect(plans.take(ids[0] ?? '', 'key', PLAN.argv)).toBeUndefined();
  expect(plans.take(ids[1] ?? '', 'key', PLAN.argv)).toEqual(PLAN);
});
