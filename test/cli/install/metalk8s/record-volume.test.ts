import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../../src/api/meta.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import { recordVolume } from '../../../../src/cli/install/metalk8s/record-volume.ts';
import type { KubeClient } from '../../../../src/kube/types.ts';
import type { Executor, Job, JobState, ProbeResult } from '../../../../src/nodes/job.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FRESH, MADE, missing, result } from '../../../support/sparse-answers.ts';
import { pv, UID, volume } from '../../../support/volume-input.ts';

const link = `/dev/disk/by-uuid/${UID}`;
const its = volume({ conditions: [{ type: 'Ready', status: 'True' }] });
const itsPv = { ...pv('Bound'), spec: { ...pv('Bound').spec, local: { path: link } } };
/** MetalK8s keeps no records, and has attached nothing here. */
const bare = { ...MADE, intent: missing, done: missing, records: FRESH.records as ProbeResult };

/** Creates a node with a job that writes its steps' records, and whose results are `states`. */
function world(states: JobState[], now: Volume = its) {
  const did: string[] = [];
  const patches: object[] = [];
  let answers: Record<string, ProbeResult> = bare;
  const next = (): JobState => {
    const state = states.shift() ?? { state: 'not-found' };
    if (state.state === 'succeeded') {
      const written = (kind: string) =>
        job?.steps.find(({ argv }) => argv[1]?.endsWith(`.${kind}.new`))?.stdin ?? '';
      answers = { ...bare, intent: result(0, written('intent')), done: result(0, written('done')) };
    }
    return state;
  };
  let job: Job | undefined;
  const executor = {
    observe: async (_node: string, probes: readonly { name: string }[]) => {
      did.push('observe');
      return new Map(probes.map(({ name }) => [name, answers[name] ?? result(0)]));
    },
    submit: async (_node: string, submitted: Job) => {
      did.push(`submit ${submitted.key.id}`);
      job = submitted;
      return next();
    },
    poll: async () => {
      did.push('poll');
      return [next()];
    },
    purge: async () => {
      did.push('purge');
      return true;
    },
  } as unknown as Executor;
  const client = {
    get: async () => now as KubeObject,
    patch: async (_resource: unknown, _name: string, patch: object) => {
      patches.push(patch);
      return now as KubeObject;
    },
  } as unknown as KubeClient;
  const signal = new AbortController().signal;
  const done = recordVolume(
    { volume: its, pv: itsPv },
    { client, executor, volumes: [its], clock: new FakeClock(), signal },
  );
  return { done, did, patches };
}

const step = { name: 'write the record "done"', command: 'dd of=x' };
const running: JobState = { state: 'running' };
const succeeded: JobState = { state: 'succeeded' };

describe('adoption of a MetalK8s Volume', () => {
  test('waits for a job, verifies the node, then writes the status', async () => {
    const { done, did, patches } = world([running, running, succeeded]);
    await done;
    expect(did).toEqual(['observe', 'purge', 'submit adopt-1', 'poll', 'poll', 'purge', 'observe']);
    expect(patches).toEqual([
      {
        metadata: { uid: UID, resourceVersion: '7' },
        status: expect.objectContaining({
          phase: 'Available',
          job: 'PrepareVolume/DONE',
          devicePath: link,
          prepared: {
            node: 'n1',
            paths: [`/var/lib/metalk8s/storage/sparse/${UID}`],
            identity: `ext4 ${UID}`,
          },
        }),
      },
    ]);
  });

  test.each<[string, JobState, RegExp]>([
    ['failed', { state: 'failed', step, exit: 1, output: 'No space left' }, /No space left/],
    [
      'found another device',
      { state: 'guarded', step, refusal: 'it is another one', output: '' },
      /it is another one/,
    ],
    ['died', { state: 'died' }, /ended without a result/],
    ['does not exist', { state: 'not-found' }, /the job does not exist/],
  ])('does not write the status if its job %s', async (_, state, why) => {
    const { done, patches } = world([state]);
    await expect(done).rejects.toThrow(why);
    await expect(done).rejects.toMatchObject({
      hint: expect.stringContaining('No byte of the device was written'),
    });
    expect(patches).toEqual([]);
  });

  test.each<[string, Volume]>([
    ['is being deleted by then', volume({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['was recreated by then', volume({}, { uid: 'other' })],
  ])('does not write the status if the Volume %s', async (_, now) => {
    const { done, patches } = world([succeeded], now);
    await expect(done).rejects.toThrow('it was deleted meanwhile');
    expect(patches).toEqual([]);
  });

  test('does not overwrite a status that was recorded meanwhile', async () => {
    const prepared = { node: 'n1', paths: ['/x'], identity: 'x' };
    const { done, patches } = world([succeeded], volume({ prepared }));
    await done;
    expect(patches).toEqual([]);
  });
});
