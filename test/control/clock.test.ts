import { expect, test } from '@jest/globals';
import { systemClock } from '../../src/control/clock.ts';

test('a sleep ends with its signal, however long it was to be', async () => {
  const controller = new AbortController();
  const month = systemClock.sleep(31 * 86_400_000, controller.signal).then(
    () => 'woke',
    () => 'aborted',
  );
  await systemClock.sleep(5);
  controller.abort();
  expect(await month).toBe('aborted');
});
