import { expect, test } from '@jest/globals';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS } from '../../src/api/resources.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { createAbsentCrds } from '../../src/manager/absent-crds.ts';
import { whenServed } from '../../src/manager/wait-for-crds.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { refusal } from '../support/refusals.ts';

const KINDS = [VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_CONTENTS];

function start(answers: Record<string, number>, isAnswer?: (error: unknown) => boolean) {
  const asked: string[] = [];
  const clock = new FakeClock();
  const logger = memoryLogger();
  const client = {
    async list({ plural }: { plural: string }) {
      asked.push(plural);
      const code = answers[plural] ?? 200;
      if (code !== 200) throw refusal(code);
      return { items: [] };
    },
  } as unknown as Pick<KubeClient, 'list'>;
  const waiting = whenServed(client, KINDS, clock, createAbsentCrds(logger), isAnswer);
  let end: string | undefined;
  const ended = waiting.start().then(
    () => {
      end = 'served';
    },
    (error: Error) => {
      end = error.message;
    },
  );
  return { asked, clock, logger, waiting, ended, end: () => end };
}

test('does not wait if all kinds are served', async () => {
  const { clock, end, logger } = start({});
  await clock.advance(0);
  expect(end()).toBe('served');
  expect(logger.lines).toEqual([]);
});

test('polls for a kind until it is served, and logs that once', async () => {
  const answers = { volumesnapshots: 404 };
  const { asked, clock, end, logger, waiting } = start(answers);
  await clock.advance(25_000);
  expect(end()).toBeUndefined();
  expect(asked).toEqual([
    'volumesnapshots',
    'volumesnapshotcontents',
    'volumesnapshots',
    'volumesnapshots',
  ]);
  expect(logger.lines.map(({ level, fields }) => [level, fields])).toEqual([
    ['info', { kinds: ['volumesnapshots.snapshot.storage.k8s.io'] }],
  ]);
  // The API server reported that the kind is absent: readers of the empty source are up to date.
  const heard = waiting.sourceOf(VOLUME_SNAPSHOTS, () => 0);
  expect(clock.now() - heard.lastHeard()).toBe(5000);
  answers.volumesnapshots = 200;
  await clock.advance(5000);
  expect(end()).toBe('served');
  expect(heard.lastHeard()).toBe(0);
  expect(waiting.sourceOf(VOLUME_SNAPSHOTS, () => 7).lastHeard()).toBe(7);
});

test.each([403, 500])('ends the wait on status %d, which is left to the informer', async (code) => {
  const { clock, end } = start({ volumesnapshots: code });
  await clock.advance(0);
  expect(end()).toBe('served');
});

test('waits on errors that do not count as responses', async () => {
  const answers = { volumesnapshots: 500 };
  const { clock, end } = start(
    answers,
    (error) => !(error instanceof ApiError && error.statusCode === 500),
  );
  await clock.advance(0);
  expect(end()).toBeUndefined();
  answers.volumesnapshots = 200;
  await clock.advance(10_000);
  expect(end()).toBe('served');
});

test('stop() ends the wait', async () => {
  const { clock, ended, end, waiting } = start({ volumesnapshots: 404 });
  await clock.advance(0);
  waiting.stop();
  await ended;
  expect(end()).toBe('stopped');
});
