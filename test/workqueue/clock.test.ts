import { expect, test } from '@jest/globals';
import { systemClock } from '../../src/workqueue/clock.ts';

test('rejects a sleep when its signal aborts, also one that is too long for a timer', async () => {
  const controller = new AbortController();
  const month = systemClock.sleep(31 * 86_400_000, controller.signal).then(
    () => 'woke',
    () => 'aborted',
  );
  // Node.js fires timers in the order of their delays: one of 1 ms, which it makes of one that is too long, before this.
  await systemClock.sleep(5);
  controller.abort();
  expect(await month).toBe('aborted');
});
