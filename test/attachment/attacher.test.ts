import { expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import { type AttacherDeps, createAttacher } from '../../src/attachment/attacher.ts';
import type { Operation, OperationKind } from '../../src/attachment/types.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import type { RunningJob } from '../../src/nodes/follow.ts';
import type { Job, JobKey, Probe, Step } from '../../src/nodes/job.ts';
import { createLoopNumbers } from '../../src/storage/loop-numbers.ts';
import { plan } from '../../src/storage/plan.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';
import type { Desired, Observed } from '../../src/storage/types.ts';
import { desiredOf } from '../../src/volumes/desired.ts';
import { unused } from '../support/fake-executor.ts';
import { FakeShare, FakeSharer } from '../support/fake-shared.ts';
import { loop, madeNode, readyNode, volume } from '../support/volume-input.ts';

const never = new Promise<never>(() => {});
const attach = { kind: 'attach', node: 'n1', readOnly: false } as const;

/** Nodes on which the file is, and no loop device; jobs on them never end. */
function world() {
  const attached: string[] = [];
  const loopNumbers = createLoopNumbers();
  const attacher = createAttacher({
    loopNumbers,
    executor: {
      submit: (_node: string, { steps }: Job) => {
        attached.push(...steps.flatMap(({ argv }) => (argv[0] === 'losetup' ? [argv[1] ?? ''] : [])));
        return never;
      },
    },
    desiredOf: (each: Volume) => desiredOf(each, undefined, 'n1'),
    look: async (_volume: Volume, _node: string, { uid }: Desired) => ({
      ...madeNode,
      signature: { found: 'one', type: 'ext4', uuid: uid },
    }),
  } as unknown as AttacherDeps);
  return { attacher, attached, loopNumbers };
}

const untold = () => {};

/** It takes a while to ask. */
const maySo = () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined));

test('Volumes that are attached at once on one node have devices of their own', async () => {
  const { attacher, attached } = world();
  for (const uid of ['u1', 'u2', 'u3']) {
    const one = { ...volume(), metadata: { ...volume().metadata, uid } };
    void attacher.run(attach, { ...one, status: {} }, new AbortController().signal, maySo, untold);
  }
  for (let turn = 0; turn < 10; turn++) await maySo();
  expect(attached.sort()).toEqual(['/dev/loop0', '/dev/loop1', '/dev/loop2']);
});

test('a number is free again where nothing is attached', async () => {
  const { attacher, loopNumbers } = world();
  const outcome = await attacher.run(
    attach,
    volume(),
    new AbortController().signal,
    async () => 'paused',
    untold,
  );
  expect(outcome).toMatchObject({ is: 'failed', message: 'paused' });
  expect([...loopNumbers.ofOthers('n1', 'other')]).toEqual([]);
});

const refused = new NodeError('refused', 'n1', 'n1 refuses the key');

test.each<[string, { looks: (Error | object)[]; submit?: Error; forget?: Error }, boolean]>([
  ['the first look', { looks: [refused] }, true],
  ['the first look, which cannot be read', { looks: [new ObservationError('no answer for loops')] }, true],
  ['the job', { looks: [madeNode], submit: refused }, false],
  ['the look after the job', { looks: [madeNode, refused] }, false],
  ['the look for jobs, where it is attached already', { looks: [readyNode], forget: refused }, false],
])(
  'an attach tells that it did nothing where the node does not answer %s: %#',
  async (_, answers, nothingDone) => {
    const looks = [...answers.looks];
    const or = async <T>(error: Error | undefined, answer: T): Promise<T> => {
      if (error !== undefined) throw error;
      return answer;
    };
    const attacher = createAttacher({
      loopNumbers: createLoopNumbers(),
      executor: {
        submit: () =>
          or(answers.submit, { state: 'failed', step: { name: 'x', command: 'x' }, exit: 1, output: '' }),
        forget: () => or(answers.forget, true),
      },
      desiredOf: (each: Volume) => desiredOf(each, undefined, 'n1'),
      async look() {
        const next = looks.shift();
        return next instanceof Error ? or(next, undefined) : next;
      },
    } as unknown as AttacherDeps);
    const outcome = await attacher.run(attach, volume(), new AbortController().signal, maySo, untold);
    expect(outcome).toMatchObject({ is: 'unknown', nothingDone });
  },
);

test.each<[string, Error, object]>([
  [
    'does not answer',
    new NodeError('unreachable', 'n1', 'timed out'),
    { message: 'timed out', silent: true },
  ],
  ['lets nobody in', refused, { message: 'n1 refuses the key' }],
  ['is not understood', new NodeError('protocol', 'n1', 'sh: what?'), { message: 'sh: what?' }],
  ['says too little', new ObservationError('no answer for loops'), { message: 'no answer for loops' }],
])('a look tells of silence where the node %s, or else does not', async (_, error, told) => {
  const attacher = createAttacher({
    loopNumbers: createLoopNumbers(),
    executor: { forget: async () => true },
    desiredOf: (each: Volume) => desiredOf(each, undefined, 'n1'),
    async look() {
      throw error;
    },
  } as unknown as AttacherDeps);
  const { signal } = new AbortController();
  const outcome = await attacher.run({ ...attach, kind: 'look' }, volume(), signal, maySo, untold);
  expect(outcome).toEqual({ is: 'unknown', nothingDone: true, ...told });
});

test('a file that nodes share is got from a node that was started anew', async () => {
  const share = new FakeShare();
  const sharers = new Map(['n1', 'n2'].map((name) => [name, new FakeSharer(name, share)]));
  const of = (node: string) => sharers.get(node) as FakeSharer;
  const attacher = createAttacher({
    loopNumbers: createLoopNumbers(),
    isOff: async () => false,
    executor: {
      observe: async (_node: string, probes: readonly Probe[]) =>
        new Map(probes.map(({ name, argv }) => [name, unused(argv)])),
      submit: async (node: string, { steps }: Job) => {
        of(node).finish(steps);
        return { state: 'succeeded' };
      },
      forget: async () => true,
    },
    desiredOf(_volume: Volume, node: string) {
      of(node).attempts++;
      return of(node).desired({}, []);
    },
    look: async (_volume: Volume, node: string) => of(node).observe(),
  } as unknown as AttacherDeps);
  const run = (kind: Operation['kind'], node: string) =>
    attacher.run(
      { kind, node, readOnly: false },
      volume(),
      new AbortController().signal,
      async () => undefined,
      untold,
    );

  expect(await run('attach', 'n1')).toMatchObject({ is: 'attached', safeToMount: true });
  of('n1').reboot();
  expect(await run('look', 'n1')).toMatchObject({ is: 'attached', safeToMount: false });
  expect(await run('attach', 'n2')).toMatchObject({ is: 'failed', heldBy: ['n1'] });
  expect(await run('detach', 'n1')).toEqual({ is: 'detached' });
  expect(await run('attach', 'n2')).toMatchObject({ is: 'attached', safeToMount: true });
  expect(await run('look', 'n1')).toEqual({ is: 'detached' });
});

test.each(['attach', 'detach'] as const)(
  'what fails as before is told in the same words: %s',
  async (kind) => {
    const sharer = new FakeSharer('n1', new FakeShare());
    let fails = false;
    const attacher = createAttacher({
      loopNumbers: createLoopNumbers(),
      isOff: async () => false,
      executor: {
        observe: async (_node: string, probes: readonly Probe[]) =>
          new Map(probes.map(({ name, argv }) => [name, unused(argv)])),
        async submit(_node: string, { steps }: Job) {
          if (!fails) sharer.finish(steps);
          if (!fails) return { state: 'succeeded' };
          const step = steps.find(({ argv }) => argv[0] === 'dd');
          const path = step?.argv.find((word) => word.startsWith('of='))?.slice('of='.length);
          const command = step?.argv.join(' ');
          const output = `dd: failed to open '${path}': Permission denied`;
          return { state: 'failed', step: { name: step?.name, command }, exit: 1, output };
        },
        forget: async () => true,
      },
      desiredOf() {
        sharer.attempts++;
        return sharer.desired({}, []);
      },
      look: async () => sharer.observe(),
    } as unknown as AttacherDeps);
    const run = (operation: 'attach' | 'detach') =>
      attacher.run(
        { ...attach, kind: operation },
        volume(),
        new AbortController().signal,
        async () => undefined,
        untold,
      );
    if (kind === 'detach') await run('attach');
    fails = true;
    const first = await run(kind);
    expect(first).toMatchObject({ message: expect.stringContaining('Permission denied') });
    expect(await run(kind)).toEqual(first);
  },
);

/** A node that shows these one after the other, the last for ever, with a job that has not ended when it is asked. */
function slowNode(...looks: Observed[]) {
  let told: ((state: RunningJob) => void) | undefined;
  let ended = () => {};
  const attacher = createAttacher({
    loopNumbers: createLoopNumbers(),
    executor: {
      observe: async (_node: string, probes: readonly Probe[]) =>
        new Map(probes.map(({ name, argv }) => [name, unused(argv)])),
      submit: async () => ({ state: 'running' }),
      poll: async () => [{ state: 'succeeded' }],
      forget: async () => true,
    },
    follower: {
      follow(_node: string, _key: JobKey, end: () => void, runs: typeof told) {
        ended = end;
        told = runs;
      },
    },
    desiredOf: (each: Volume) => desiredOf(each, undefined, 'n1'),
    look: async () => (looks.length > 1 ? looks.shift() : looks[0]),
  } as unknown as AttacherDeps);
  return { attacher, tell: (state: RunningJob) => told?.(state), end: () => ended() };
}
const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await maySo();
};

test('what a job is at that takes its time is told, and that it waits for an earlier one', async () => {
  const { attacher, tell, end } = slowNode(madeNode, readyNode);
  const said: string[] = [];
  const { signal } = new AbortController();
  const done = attacher.run(attach, volume(), signal, maySo, (step) => said.push(step));
  await turns();
  tell({ state: 'running' });
  tell({ state: 'running', step: { name: 'attach the file', command: 'losetup' } });
  end();
  expect(await done).toMatchObject({ is: 'attached', safeToMount: true });
  expect(said).toEqual(['waits for an earlier job of this volume', 'attach the file']);
});

test('an operation that is given up waits for its job no longer', async () => {
  const { attacher } = slowNode(madeNode);
  const givenUp = new AbortController();
  const done = attacher.run(attach, volume(), givenUp.signal, maySo, untold);
  await turns();
  givenUp.abort(new Error('given up'));
  await expect(done).rejects.toThrow('given up');
});

test('a device that was told to go with its last user is neither attached nor detached', async () => {
  const going = { ...readyNode, loops: [{ ...loop, autoclear: true }] };
  const { attacher } = slowNode(going);
  const { signal } = new AbortController();
  const outcome = await attacher.run({ ...attach, kind: 'detach' }, volume(), signal, maySo, untold);
  expect(outcome).toMatchObject({ is: 'unknown', message: expect.stringContaining('/dev/loop3') });
});

test('where it can not be seen whether a device has the file, an attach did nothing, and a detach is not over', async () => {
  const moved = { ...readyNode, loops: [{ ...loop, backingFile: '/srv/.nfs0000000000a2' }] };
  const { attacher } = slowNode(moved);
  const message = expect.stringContaining('/srv/.nfs0000000000a2');
  const run = (kind: OperationKind) =>
    attacher.run({ ...attach, kind }, volume(), new AbortController().signal, maySo, untold);
  expect(await run('attach')).toEqual({ is: 'unknown', message, nothingDone: true });
  expect(await run('detach')).toMatchObject({ is: 'unknown', message });
  expect(await run('look')).toMatchObject({ is: 'unknown', message });
});

/** What is asked and done to detach a device from nodes that look so, one after the other; each job succeeds. */
async function detaching(
  looks: Observed[],
  observe: (argv: readonly string[]) => ReturnType<typeof unused>,
  desired = desiredOf(volume(), undefined, 'n1'),
  why: () => Promise<string | undefined> = async () => undefined,
) {
  const jobs: string[][] = [];
  const asked: (string | undefined)[] = [];
  const attacher = createAttacher({
    loopNumbers: createLoopNumbers(),
    executor: {
      observe: async (_node: string, probes: readonly Probe[]) =>
        new Map(probes.map(({ name, argv }) => [name, observe(argv)])),
      async submit(_node: string, { steps }: Job) {
        jobs.push(steps.map(({ argv }) => argv.join(' ')));
        return { state: 'succeeded' };
      },
      forget: async () => true,
    },
    desiredOf: () => desired,
    look: async () => (looks.length > 1 ? looks.shift() : looks[0]),
  } as unknown as AttacherDeps);
  const whyNot = async (used?: 'unused') => {
    asked.push(used);
    return why();
  };
  const { signal } = new AbortController();
  const outcome = await attacher.run({ ...attach, kind: 'detach' }, volume(), signal, whyNot, untold);
  return { outcome, jobs, asked };
}

test('what an interrupted growing left mounted is taken off first, and is no sign that nothing else uses the device', async () => {
  const point = `/run/stowage/mounts/${volume().metadata.uid}`;
  const left = { ...readyNode, mounts: new Map([['7:3', [point]]]) };
  const { outcome, jobs, asked } = await detaching([left, readyNode, madeNode], unused);
  expect(outcome).toEqual({ is: 'detached' });
  expect(jobs).toEqual([[`umount -- ${point}`, `rmdir -- ${point}`], [expect.stringContaining('losetup')]]);
  expect(asked).toEqual([undefined, 'unused']);
});

test('where it cannot be seen whether a device is used, it is where it was', async () => {
  const { outcome, jobs } = await detaching([readyNode], () => {
    throw refused;
  });
  const message = 'whether it is in use cannot be seen: n1 refuses the key';
  expect({ outcome, jobs }).toEqual({ outcome: { is: 'in-use', message }, jobs: [] });
});

test('what is held up once its device is gone is not said to be there as it was', async () => {
  let looks = 0;
  const used = (argv: readonly string[]) =>
    argv[1] === '-H' && looks++ > 0
      ? { ...unused(argv), stdout: '/dev/null\n/pods/u/kubernetes.io~local-volume/data1' }
      : unused(argv);
  expect((await detaching([readyNode, madeNode], used)).outcome).toMatchObject({
    is: 'unknown',
    message: 'the kubelet still has folders for the PersistentVolume data1',
  });

  const sharer = new FakeSharer('n1', new FakeShare());
  const desired = sharer.desired({}, []);
  sharer.finish((plan('present', desired, sharer.observe(), 3) as { steps: Step[] }).steps);
  const held = sharer.observe();
  const gone = { ...held, loops: [] };
  let asked = 0;
  const notYet = async () => (asked++ > 0 ? 'Volume data1 is paused' : undefined);
  expect((await detaching([held, gone], unused, desired, notYet)).outcome).toMatchObject({
    is: 'attached',
    safeToMount: false,
    message: 'Volume data1 is paused',
  });
});
