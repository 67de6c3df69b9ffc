import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, jest, test } from '@jest/globals';
import { processTimeOf, systemClock, timeOfDayAt } from '../../src/workqueue/clock.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('rejects a sleep when its signal aborts, also one that is too long for a timer', async () => {
  const controller = new AbortController();
  const month = systemClock.sleep(31 * 86_400_000, controller.signal).then(
    () => 'woke',
    () => 'aborted',
  );
  // Node.js fires timers in order of their delays. A delay that is too long becomes 1 ms, and would
  // fire before this one.
  await systemClock.sleep(5);
  controller.abort();
  expect(await month).toBe('aborted');
});

test.each([
  ['back by two hours', -7_200_000],
  ['forward by a day', 86_400_000],
])('the time of the process goes on while the time of day is set %s', (_, step) => {
  const before = [systemClock.now(), systemClock.timeOfDay()] as const;
  expect(Math.abs(before[0] - before[1])).toBeLessThan(3_600_000);
  const real = Date.now;
  jest.spyOn(Date, 'now').mockImplementation(() => real() + step);
  const passed = systemClock.now() - before[0];
  expect(passed).toBeGreaterThanOrEqual(0);
  expect(passed).toBeLessThan(3_600_000);
  expect(Math.abs(systemClock.timeOfDay() - before[1] - step)).toBeLessThan(3_600_000);
});

test('times of objects and of the process are converted by the present time of day', () => {
  const clock = { now: () => 5000, timeOfDay: () => 105_000 };
  expect(timeOfDayAt(4000, clock)).toBe(104_000);
  expect(processTimeOf(new Date(104_000).toISOString(), clock)).toBe(4000);
  expect(processTimeOf(new Date(106_000).toISOString(), clock)).toBe(5000);
  expect(processTimeOf(undefined, clock)).toBeUndefined();
  expect(processTimeOf('x', clock)).toBeUndefined();
});

/**
 * Files outside of commands that use the time of day: for times in objects, or to compare with
 * these. An interval by that clock ends late, or at once, when it is set.
 */
const USES_TIME_OF_DAY = [
  'controllers/attachdetach/apply-outcome.ts',
  'controllers/attachdetach/operation-executor.ts',
  'controllers/attachdetach/pod-condition-writer.ts',
  'controllers/attachdetach/reconciler.ts',
  'controllers/backup/reconciler.ts',
  'controllers/lib/idempotent-event.ts',
  'controllers/populator/reconciler.ts',
  'controllers/provisioner/reconciler.ts',
  'controllers/snapshot/content-actions.ts',
  'controllers/snapshot/content-reconciler.ts',
  'controllers/snapshot/snapshot-jobs.ts',
  'controllers/snapshot/snapshot-reconciler.ts',
  'controllers/volume/actions.ts',
  'controllers/volume/leftover-reconciler.ts',
  'controllers/volume/reconciler.ts',
  'kube/election.ts',
  'kube/events.ts',
  'manager/left-capacities.ts',
  'manager/watch.ts',
  'workqueue/clock.ts',
];

test('only files that write or compare times of objects use the time of day', () => {
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) =>
      /^(api|controllers|kube|manager|model|nodes|storage|workqueue).*\.ts$/.test(file),
    )
    .filter((file) =>
      /\.timeOfDay\(\)|\bDate\.now\b|new Date\(\)/.test(readFileSync(`src/${file}`, 'utf8')),
    );
  expect(found.sort()).toEqual(USES_TIME_OF_DAY);
});

test('no time of the process is shown as a time of day', () => {
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .filter((file) => /new Date\([^)]*clock\.now\b/.test(readFileSync(`src/${file}`, 'utf8')));
  expect(found).toEqual([]);
});
