import { expect, test } from '@jest/globals';
import { systemClock } from '../../src/workqueue/clock.ts';

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
