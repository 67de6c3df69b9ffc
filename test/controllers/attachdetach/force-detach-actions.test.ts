import { expect, test } from '@jest/globals';
import { explain } from '../../../src/api/reasons.ts';
import {
  createForceDetach,
  type ForceDetachDeps,
} from '../../../src/controllers/attachdetach/force-detach-actions.ts';
import { restoreState } from '../../../src/controllers/attachdetach/restore-state.ts';
import { NOW, volumeObject } from '../../support/attachment-view.ts';
import { memoryLogger } from '../../support/logger.ts';

test('a force-detach emits an event, a metric and a log line, and requires a verification', () => {
  const events: unknown[] = [];
  const forced: string[] = [];
  const logger = memoryLogger();
  const force = createForceDetach({
    events: { event: (...args: unknown[]) => events.push(args) },
    onForced: (reason: string) => forced.push(reason),
    logger,
  } as unknown as ForceDetachDeps);
  const volume = volumeObject();
  const known = restoreState(volume, undefined, [], NOW, logger);
  const why = explain('ForceDetachedNotReady', { node: 'n1', seconds: 360, what: 'Volume v1' });
  force.report(known, { node: 'n1', reason: 'timeout', ...why });
  expect(events).toEqual([
    [
      ...[volume, 'Warning', 'ForcedDetach'],
      ...[expect.stringMatching(/^Node n1 has not been Ready for 360 s/), why.detail],
    ],
  ]);
  expect(forced).toEqual(['timeout']);
  expect(logger.lines).toMatchObject([
    { level: 'warn', fields: { node: 'n1', reason: 'timeout' } },
  ]);
  expect(known.unverifiedNodes).toContain('n1');
});
