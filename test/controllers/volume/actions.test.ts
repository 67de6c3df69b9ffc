import { expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolume } from '../../../src/api/core.ts';
import type { Resource } from '../../../src/api/meta.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { createNotReadyTimes } from '../../../src/controllers/attachdetach/not-ready-times.ts';
import {
  type ActionRunnerDeps,
  createActionRunner,
  nothing,
} from '../../../src/controllers/volume/actions.ts';
import type { ObservationTimes } from '../../../src/controllers/volume/observation-times.ts';
import type { Action } from '../../../src/controllers/volume/types.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import type { JobKey, JobState } from '../../../src/nodes/job.ts';
import { createLoopNumbers } from '../../../src/storage/loop-numbers.ts';
import { pending } from '../../support/decisions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLogger } from '../../support/logger.ts';
import { UID, volume } from '../../support/volume-input.ts';
import { volumeNamed } from '../../support/volumes.ts';

const submit: Action = { do: 'submit', steps: [], loopNumber: 7 };
const createPv: Action = { do: 'create-pv', pv: { metadata: { name: 'v1' } } as PersistentVolume };

const MINUTE = 60_000;
const OLD = '11111111-2222-4333-8444-555555555555';

/**
 * Creates the dependencies of actions.
 * @param live the Volume on the API server
 * @param isCurrent reports whether the decision used the current version
 * @param state state of each job
 */
function world({
  live = volume(),
  isCurrent = true,
  state = { state: 'running' },
}: {
  live?: Volume;
  isCurrent?: boolean;
  state?: JobState;
} = {}) {
  const paths: string[] = [];
  const submitted: JobKey[] = [];
  const created: unknown[] = [];
  const forgotten: string[] = [];
  const loopNumbers = createLoopNumbers();
  const deps = {
    client: {
      get: async () => live,
      create: async (_: unknown, object: unknown) => {
        created.push(object);
        return object;
      },
    },
    objects: { isCurrent: async () => isCurrent, objectOf: (of: Volume) => of },
    executor: {
      submit: async (_: string, { key }: { key: JobKey }) => {
        submitted.push(key);
        return state;
      },
      purge: async (_: string, subject: string) => {
        forgotten.push(subject);
        return true;
      },
    },
    persistentVolumes: { recordWrite() {} },
    events: { event() {} },
    logger: memoryLogger(),
  } as unknown as ActionRunnerDeps;
  const times: Partial<ObservationTimes> = {
    notePath: (...words) => void paths.push(words.join(' ')),
  };
  const actions = createActionRunner(deps, times as ObservationTimes, loopNumbers);
  const decided = volume(pending('PrepareVolume/1'));
  return {
    ...{ submitted, created, forgotten, loopNumbers, paths },
    run: (action: Action) => actions.carryOut(action, decided, 'n1', nothing),
  };
}

test('a job is submitted by the name in the status', async () => {
  const { run, submitted } = world();
  expect((await run(submit)).job).toEqual({ known: { state: 'running' } });
  expect(submitted).toEqual([{ subject: UID, id: 'prepare-1' }]);
});

test('no job is submitted if the cached Volume is outdated', async () => {
  const { run, submitted } = world({ isCurrent: false });
  expect(await run(submit)).toEqual(nothing);
  expect(submitted).toEqual([]);
});

test('a job that no status names records the file system of a directory', async () => {
  const { run, submitted, forgotten } = world();
  expect(await run({ do: 'record-directory', steps: [] })).toEqual({
    ...nothing,
    directoryRecorded: true,
  });
  expect(submitted).toEqual([{ subject: `directory-${UID}`, id: 'directory' }]);
  expect(forgotten).toEqual([`directory-${UID}`]);
});

test.each<[JobState, string[]]>([
  [{ state: 'succeeded' }, [`${UID} n1`]],
  [{ state: 'running' }, []],
])('a separate job makes udev prefer the device: %j', async (state, preferred) => {
  const { run, submitted, forgotten, paths } = world({ state });
  expect(await run({ do: 'prefer-path', steps: [] })).toEqual({ ...nothing, pathPreferred: true });
  expect(submitted).toEqual([{ subject: `path-${UID}`, id: 'path' }]);
  expect(forgotten).toEqual([`path-${UID}`]);
  expect(paths).toEqual(preferred);
});

test('a loop number is reserved before the first await', async () => {
  const { run, loopNumbers } = world();
  const running = run(submit);
  expect(loopNumbers.ofOthers('n1', 'another Volume')).toEqual(new Set([7]));
  await running;
});

test('no PersistentVolume is created for a Volume that was deleted and created again', async () => {
  const again = volume();
  const { run, created } = world({
    live: { ...again, metadata: { ...again.metadata, uid: 'another' } },
  });
  await expect(run(createPv)).rejects.toThrow('the cache has an earlier Volume');
  expect(created).toEqual([]);
  const { run: runCurrent, created: createdOnce } = world();
  await runCurrent(createPv);
  expect(createdOnce).toHaveLength(1);
});

/** Storage of a Volume on n0, whose Node records a time without contact that is long or none. */
test.each([
  ['ahead', -600 * MINUTE],
  ['behind', 600 * MINUTE],
])('a clock that is %s ends no wait for the node that storage is adopted from', async (_, at) => {
  const clock = new FakeClock();
  const condition = {
    type: 'Ready',
    status: 'Unknown',
    lastTransitionTime: new Date(clock.timeOfDay() + at).toISOString(),
  };
  const n0 = { metadata: { name: 'n0' }, status: { conditions: [condition] } } as KubeNode;
  const earlier = volumeNamed('old', { prepared: { node: 'n0', paths: [], identity: '' } });
  const objects: Record<string, object[]> = {
    volumes: [{ ...earlier, metadata: { name: 'old', uid: OLD } }],
  };
  earlier.spec.nodeName = 'n0';
  const actions = createActionRunner(
    {
      client: {
        list: async ({ plural }: Resource) => ({ metadata: {}, items: objects[plural] ?? [] }),
        get: async ({ plural }: Resource) => {
          if (plural === 'nodes') return n0;
          throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, 404, 'GET');
        },
      } as unknown as KubeClient,
      clock,
      notReadySince: createNotReadyTimes({ onChange() {} }, clock),
      maxWaitForUnmountMs: 6 * MINUTE,
      logger: memoryLogger(),
    } as unknown as ActionRunnerDeps,
    {} as ObservationTimes,
    createLoopNumbers(),
  );
  const adopting = volume(pending('PrepareVolume/1'));
  adopting.spec = { ...adopting.spec, adopt: { uid: OLD } };
  const problem = async () =>
    (await actions.carryOut({ do: 'read-claimants' }, adopting, 'n1', nothing)).adoption?.problem;
  expect((await problem())?.reason.code).toBe('AdoptedVolumeAlive');
  await clock.advance(5.9 * MINUTE);
  clock.set(600 * MINUTE);
  expect((await problem())?.reason.code).toBe('AdoptedVolumeAlive');
  clock.set(-1200 * MINUTE);
  await clock.advance(0.1 * MINUTE);
  expect(await problem()).toBeUndefined();
});
