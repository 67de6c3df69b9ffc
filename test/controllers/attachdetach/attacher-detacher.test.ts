import { describe, expect, test } from '@jest/globals';
import { explain, refuse } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import {
  type AttacherDeps,
  createAttacherDetacher,
  type Precheck,
} from '../../../src/controllers/attachdetach/attacher-detacher.ts';
import type { AttachmentOperationKind } from '../../../src/controllers/attachdetach/types.ts';
import { desiredOf } from '../../../src/model/desired-volume.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import type { Job, JobKey, Probe, Step } from '../../../src/nodes/job.ts';
import type { RunningJob } from '../../../src/nodes/job-watcher.ts';
import { createLoopNumbers } from '../../../src/storage/loop-numbers.ts';
import { plan } from '../../../src/storage/plan.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import type { Desired, Observed } from '../../../src/storage/registry.ts';
import type { ObservedSparse } from '../../../src/storage/types.ts';
import { unused } from '../../support/fake-executor.ts';
import { FakeShare, FakeSharer } from '../../support/fake-shared.ts';
import { LINK } from '../../support/link-words.ts';
import { loop, loopRow, madeNode, readyNode, volume } from '../../support/volume-input.ts';

const attach = { kind: 'attach', node: 'n1', readOnly: false } as const;

/** A precheck that passes after a delay. */
const maySo = () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await maySo();
};

interface Parts {
  executor?: object;
  observe?: (volume: Volume, node: string, desired: Desired) => Promise<Observed>;
  desiredOf?: (volume: Volume, node: string) => Desired;
  jobWatcher?: object;
}

/** Creates an attacher for nodes where no device is in use and each job succeeds. */
function attacherWith({ executor, desiredOf: desired, ...parts }: Parts) {
  const loopNumbers = createLoopNumbers();
  const attacher = createAttacherDetacher({
    loopNumbers,
    isOff: async () => false,
    executor: {
      observe: async (_node: string, probes: readonly Probe[]) =>
        new Map(probes.map(({ name, argv }) => [name, unused(argv)])),
      submit: async () => ({ state: 'succeeded' }),
      purge: async () => true,
      ...executor,
    },
    desiredOf: desired ?? ((each: Volume) => desiredOf(each, undefined, 'n1')),
    ...parts,
  } as unknown as AttacherDeps);
  const { signal } = new AbortController();
  const run = (
    kind: AttachmentOperationKind,
    { on = 'n1', of = volume(), precheck = maySo as Precheck } = {},
  ) => attacher.run({ ...attach, kind, node: on }, of, signal, precheck, () => {});
  return { attacher, loopNumbers, run };
}

/**
 * Returns these observations in sequence, and then the last one repeatedly. Throws an Error instead
 * of returning it.
 */
function oneByOne(...looks: (Observed | Error)[]): () => Promise<Observed> {
  return async () => {
    const next = looks.length > 1 ? looks.shift() : looks[0];
    if (next instanceof Error) throw next;
    return next as Observed;
  };
}

/** Creates nodes with the file, but no loop device, whose jobs never end. */
function world() {
  const attached: string[] = [];
  const submit = (_node: string, { steps }: Job) => {
    attached.push(...steps.flatMap(({ argv }) => (argv[0] === 'losetup' ? [argv[1] ?? ''] : [])));
    return new Promise<never>(() => {});
  };
  const observe: Parts['observe'] = async (_volume, _node, { uid }) =>
    ({ ...madeNode, signature: { found: 'one', type: 'ext4', uuid: uid } }) as Observed;
  return { ...attacherWith({ executor: { submit }, observe }), attached };
}

test('Volumes that are attached concurrently on one node get different devices', async () => {
  const { run, attached } = world();
  for (const uid of ['u1', 'u2', 'u3']) {
    void run('attach', {
      of: { ...volume(), metadata: { ...volume().metadata, uid }, status: {} },
    });
  }
  await turns();
  expect(attached.sort()).toEqual(['/dev/loop0', '/dev/loop1', '/dev/loop2']);
});

describe('a persistent path that leads to another device', () => {
  const other = { ...loopRow, name: 'sdz', device: '65:16', type: 'disk' };
  const stray = (node: ObservedSparse): ObservedSparse => ({
    ...node,
    devices: [...node.devices, other],
    link: other.device,
  });
  const told = (type: string, reason: string) =>
    volume({
      conditions: [
        { type, status: 'False', reason, message: 'x', lastTransitionTime: '' } as never,
      ],
    });
  const astray = told('Ready', 'PathAstray');
  async function attaching(of: Volume, ...looks: ObservedSparse[]) {
    const jobs: string[][] = [];
    const asked: unknown[] = [];
    const { run, loopNumbers } = attacherWith({
      executor: {
        async submit(_node: string, { steps }: Job) {
          jobs.push(steps.map(({ argv }) => argv[0] ?? ''));
          return { state: 'succeeded' };
        },
      },
      observe: oneByOne(...looks),
    });
    const precheck: Precheck = async (used) => {
      asked.push(used);
      return undefined;
    };
    return { outcome: await run('attach', { of, precheck }), jobs, asked, loopNumbers };
  }

  test.each<[string, Volume]>([
    ['no condition reports it', volume()],
    ['the condition Ready has another reason', told('Ready', 'UnavailableError')],
    ['another condition than Ready reports it', told('Paused', 'PathAstray')],
  ])('fails the attach and runs no job if %s', async (_, of) => {
    const { outcome, jobs, asked, loopNumbers } = await attaching(of, stray(madeNode));
    expect(outcome).toMatchObject({
      is: 'failed',
      message: `${LINK} leads to /dev/sdz, and the volume has no device`,
    });
    expect({ jobs, asked }).toEqual({ jobs: [], asked: [] });
    expect([...loopNumbers.ofOthers('n1', 'other')]).toEqual([]);
  });

  test('leaves an attached device not safe to mount until a condition reports it', async () => {
    const { outcome, jobs } = await attaching(volume(), stray(readyNode));
    expect(outcome).toMatchObject({
      ...{ is: 'attached', safeToMount: false, device: 'loop3' },
      message: `${LINK} leads to /dev/sdz, not to the volume's device /dev/loop3`,
    });
    expect(jobs).toEqual([]);
  });

  test.each([
    ['attached', readyNode, ['install', 'find', 'flock', 'udevadm', 'udevadm']],
    ['not attached', madeNode, ['install', 'find', 'flock', 'losetup', 'udevadm']],
  ])('is repaired by a job once it was reported, with the device %s', async (_, node, programs) => {
    const { outcome, jobs, asked } = await attaching(astray, stray(node), readyNode);
    expect(outcome).toMatchObject({ is: 'attached', safeToMount: true, device: 'loop3' });
    expect({ jobs, asked }).toEqual({ jobs: [programs], asked: [undefined] });
  });

  test('is repaired at the second attempt if several nodes share the Volume', async () => {
    const of = volume();
    Object.assign(of.spec, { attachableNodes: ['n1', 'n2'] });
    const submitted: Job[] = [];
    const { run } = attacherWith({
      executor: {
        async submit(_node: string, job: Job) {
          submitted.push(job);
          return { state: 'succeeded' };
        },
      },
      observe: oneByOne(
        ...[stray(madeNode), stray(madeNode), stray(madeNode), readyNode],
        ...[stray(madeNode), stray(madeNode)],
      ),
      desiredOf: () => desiredOf(volume(), undefined),
    });
    expect(await run('attach', { of })).toMatchObject({ is: 'failed' });
    expect(submitted).toEqual([]);
    expect(await run('attach', { of })).toMatchObject({ is: 'attached', safeToMount: true });
    expect(submitted).toHaveLength(1);
    // After a correct path, a path that leads to another device is reported again.
    expect(await run('attach', { of })).toMatchObject({ is: 'failed' });
    expect(submitted).toHaveLength(1);
  });

  test('needs no job if it is correct by now', async () => {
    const { outcome, jobs } = await attaching(astray, readyNode);
    expect(outcome).toMatchObject({ is: 'attached', safeToMount: true });
    expect(jobs).toEqual([]);
  });

  test('is retried later if it is wrong again after each job', async () => {
    const { outcome, jobs } = await attaching(astray, stray(readyNode));
    expect(outcome).toMatchObject({
      is: 'attached',
      safeToMount: false,
      message: 'steps remain',
      detail: { code: 'StepsRemain' },
    });
    expect(jobs).toHaveLength(4);
  });
});

test.each<[string, object, string]>([
  ['forgets each job', { submit: async () => ({ state: 'not-found' }) }, 'JobForgotten'],
  ['ends each job early', { submit: async () => ({ state: 'died' }) }, 'JobDied'],
])('an attach on a node that %s fails with that reason', async (_, executor, code) => {
  const { run } = attacherWith({ executor, observe: oneByOne(madeNode) });
  expect(await run('attach')).toMatchObject({ is: 'failed', detail: { code } });
});

test('a node on which a job of the Volume still runs is not verified', async () => {
  const { run } = attacherWith({ executor: { purge: async () => false } });
  const outcome = { is: 'unknown', ...explain('JobStillRuns', { node: 'n1' }) };
  expect(await run('verify')).toEqual(outcome);
});

test('an attach that its precheck refuses releases its loop number', async () => {
  const { run, loopNumbers } = world();
  const paused = explain('OperationPaused', { kind: 'Node', name: 'n1', resume: 'node n1' });
  const outcome = await run('attach', { precheck: async () => paused });
  expect(outcome).toMatchObject({
    is: 'failed',
    message: 'Node n1 is paused. To resume it: stowage resume node n1',
    detail: { code: 'OperationPaused' },
  });
  expect([...loopNumbers.ofOthers('n1', 'other')]).toEqual([]);
});

const refused = new NodeError('refused', 'n1', 'n1 refuses the key');

const fails = async () => {
  throw refused;
};
const jobFails = async () => ({
  ...{ state: 'failed', step: { name: 'x', command: 'x' }, exit: 1, output: '' },
});
test.each<[string, (Error | Observed)[], object, boolean]>([
  ['the first observation', [refused], {}, true],
  [
    'the first observation in full',
    [new ObservationError(refuse('ProbeUnanswered', { probe: 'loops' }))],
    {},
    true,
  ],
  ['the job', [madeNode], { submit: fails }, false],
  ['the observation after the job', [madeNode, refused], { submit: jobFails }, false],
  ['the purge of jobs, with the device attached', [readyNode], { purge: fails }, false],
])(
  'an attach reports whether it changed nothing if the node does not answer %s',
  async (_, looks, executor, nothingDone) => {
    const { run } = attacherWith({ executor, observe: oneByOne(...looks) });
    expect(await run('attach')).toMatchObject({ is: 'unknown', nothingDone });
  },
);

test.each<[string, Error, object]>([
  [
    'does not answer',
    new NodeError('unreachable', 'n1', 'timed out'),
    { message: 'timed out', silent: true },
  ],
  ['refuses the key', refused, { message: 'n1 refuses the key' }],
  ['breaks the protocol', new NodeError('protocol', 'n1', 'sh: what?'), { message: 'sh: what?' }],
  [
    'answers incompletely',
    new ObservationError(refuse('ProbeUnanswered', { probe: 'loops' })),
    explain('ProbeUnanswered', { probe: 'loops' }),
  ],
])('verify reports silence only for a silent node: one that %s', async (_, error, told) => {
  const { run } = attacherWith({ observe: oneByOne(error) });
  expect(await run('verify')).toEqual({ is: 'unknown', nothingDone: true, ...told });
});

test('a file that nodes share is taken over from a node that rebooted', async () => {
  const share = new FakeShare();
  const sharers = new Map(['n1', 'n2'].map((name) => [name, new FakeSharer(name, share)]));
  const of = (node: string) => sharers.get(node) as FakeSharer;
  const { run } = attacherWith({
    executor: {
      submit: async (node: string, { steps }: Job) => {
        of(node).finish(steps);
        return { state: 'succeeded' };
      },
    },
    desiredOf(_volume, node) {
      of(node).attempts++;
      return of(node).desired({}, []);
    },
    observe: async (_volume, node) => of(node).observe(),
  });

  expect(await run('attach')).toMatchObject({ is: 'attached', safeToMount: true });
  of('n1').reboot();
  expect(await run('verify')).toMatchObject({ is: 'attached', safeToMount: false });
  expect(await run('attach', { on: 'n2' })).toMatchObject({ is: 'failed', heldBy: ['n1'] });
  expect(await run('detach')).toEqual({ is: 'detached' });
  expect(await run('attach', { on: 'n2' })).toMatchObject({ is: 'attached', safeToMount: true });
  expect(await run('verify')).toEqual({ is: 'detached' });
});

test('an attach whose device is taken by others each time tries the next device', async () => {
  const sharer = new FakeSharer('n1', new FakeShare());
  const tried: string[] = [];
  const { run } = attacherWith({
    executor: {
      async submit(_node: string, { steps }: Job) {
        const step = steps.find(({ argv }) => argv[0] === 'losetup' && argv.length > 2);
        tried.push(step?.argv.find((word) => /^\/dev\/loop\d+$/.test(word)) ?? '');
        if (tried.length < 4)
          return {
            state: 'raced',
            step: { name: 'attach', command: 'losetup' },
            exit: 1,
            output: 'busy',
          };
        sharer.finish(steps);
        return { state: 'succeeded' };
      },
    },
    desiredOf: () => sharer.desired({}, []),
    observe: async () => sharer.observe(),
  });
  expect(await run('attach')).toMatchObject({ is: 'attached', safeToMount: true });
  expect(tried).toEqual(['/dev/loop0', '/dev/loop1', '/dev/loop2', '/dev/loop3']);
});

test.each(['attach', 'detach'] as const)(
  'the same failure has the same message: %s',
  async (kind) => {
    const sharer = new FakeSharer('n1', new FakeShare());
    let failing = false;
    const { run } = attacherWith({
      executor: {
        async submit(_node: string, { steps }: Job) {
          if (!failing) sharer.finish(steps);
          if (!failing) return { state: 'succeeded' };
          const step = steps.find(({ argv }) => argv[0] === 'dd');
          const path = step?.argv.find((word) => word.startsWith('of='))?.slice('of='.length);
          const command = step?.argv.join(' ');
          const output = `dd: failed to open '${path}': Permission denied`;
          return { state: 'failed', step: { name: step?.name, command }, exit: 1, output };
        },
      },
      desiredOf() {
        sharer.attempts++;
        return sharer.desired({}, []);
      },
      observe: async () => sharer.observe(),
    });
    if (kind === 'detach') await run('attach');
    failing = true;
    const first = await run(kind);
    expect(first).toMatchObject({
      message: expect.stringContaining('Permission denied'),
      detail: { code: 'StepFailed', parameters: { output: expect.stringContaining('-*') } },
    });
    expect(await run(kind)).toEqual(first);
  },
);

/** Creates a node with a job that has not ended when it is polled. */
function slowNode(...looks: Observed[]) {
  let told: ((state: RunningJob) => void) | undefined;
  let ended = () => {};
  const { attacher, run } = attacherWith({
    executor: {
      submit: async () => ({ state: 'running' }),
      poll: async () => [{ state: 'succeeded' }],
    },
    jobWatcher: {
      watch(_node: string, _key: JobKey, end: () => void, runs: typeof told) {
        ended = end;
        told = runs;
      },
    },
    observe: oneByOne(...looks),
  });
  return { attacher, run, tell: (state: RunningJob) => told?.(state), end: () => ended() };
}

test('progress shows the step of the job, or that it waits for an earlier job', async () => {
  const { attacher, tell, end } = slowNode(madeNode, readyNode);
  const steps: string[] = [];
  const { signal } = new AbortController();
  const done = attacher.run(attach, volume(), signal, maySo, (step) => steps.push(step));
  await turns();
  tell({ state: 'running' });
  tell({ state: 'running', step: { name: 'attach the file', command: 'losetup' } });
  end();
  expect(await done).toMatchObject({ is: 'attached', safeToMount: true });
  expect(steps).toEqual(['waiting for an earlier job of this volume', 'attach the file']);
});

test('an operation that is canceled stops waiting for its job', async () => {
  const { attacher } = slowNode(madeNode);
  const canceled = new AbortController();
  const done = attacher.run(attach, volume(), canceled.signal, maySo, () => {});
  await turns();
  canceled.abort(new Error('canceled'));
  await expect(done).rejects.toThrow('canceled');
});

test('detach leaves a device with AUTOCLEAR set alone and reports it', async () => {
  const { run } = slowNode({ ...readyNode, loops: [{ ...loop, autoclear: true }] });
  expect(await run('detach')).toMatchObject({
    is: 'unknown',
    message: expect.stringContaining('/dev/loop3'),
  });
});

test('a moved backing file makes attach, detach and verify report unknown', async () => {
  const { run } = slowNode({
    ...readyNode,
    loops: [{ ...loop, backingFile: '/srv/.nfs0000000000a2' }],
  });
  const message = expect.stringContaining('/srv/.nfs0000000000a2');
  const detail = expect.objectContaining({ code: 'LoopFileMoved' });
  expect(await run('attach')).toEqual({ is: 'unknown', message, detail, nothingDone: true });
  expect(await run('detach')).toMatchObject({ is: 'unknown', message });
  expect(await run('verify')).toMatchObject({ is: 'unknown', message });
});

/** Detaches a device from a node with these observations. @returns its requests and jobs */
async function detaching(
  looks: Observed[],
  answer: (argv: readonly string[]) => ReturnType<typeof unused>,
  desired = desiredOf(volume(), undefined, 'n1'),
  why: Precheck = async () => undefined,
) {
  const jobs: string[][] = [];
  const asked: (string | undefined)[] = [];
  const { run } = attacherWith({
    executor: {
      observe: async (_node: string, probes: readonly Probe[]) =>
        new Map(probes.map(({ name, argv }) => [name, answer(argv)])),
      async submit(_node: string, { steps }: Job) {
        jobs.push(steps.map(({ argv }) => argv.join(' ')));
        return { state: 'succeeded' };
      },
    },
    desiredOf: () => desired,
    observe: oneByOne(...looks),
  });
  const precheck: Precheck = async (used?: 'unused') => {
    asked.push(used);
    return why();
  };
  return { outcome: await run('detach', { precheck }), jobs, asked };
}

test('detach unmounts an interrupted expansion first, then requires an unused device', async () => {
  const point = `/run/stowage/mounts/${volume().metadata.uid}`;
  const left = { ...readyNode, mounts: new Map([['7:3', [point]]]) };
  const { outcome, jobs, asked } = await detaching([left, readyNode, madeNode], unused);
  expect(outcome).toEqual({ is: 'detached' });
  expect(jobs).toEqual([
    [`umount -- ${point}`, `rmdir -- ${point}`],
    [expect.stringContaining('losetup')],
  ]);
  expect(asked).toEqual([undefined, 'unused']);
});

test('detach reports in-use if the node cannot check who uses the device', async () => {
  const { outcome, jobs } = await detaching([readyNode], () => {
    throw refused;
  });
  const message = 'cannot check whether the device is in use: n1 refuses the key';
  expect({ outcome, jobs }).toEqual({ outcome: { is: 'in-use', message }, jobs: [] });
});

test('a detach that stops after its device is gone is not reported as unchanged', async () => {
  let looks = 0;
  const used = (argv: readonly string[]) =>
    argv[1] === '-H' && looks++ > 0
      ? { ...unused(argv), stdout: '/dev/null\n/pods/u/kubernetes.io~local-volume/data1' }
      : unused(argv);
  expect((await detaching([readyNode, madeNode], used)).outcome).toMatchObject({
    is: 'unknown',
    message: 'the kubelet still has directories for the PersistentVolume data1',
  });

  const sharer = new FakeSharer('n1', new FakeShare());
  const desired = sharer.desired({}, []);
  sharer.finish((plan('attach', desired, sharer.observe(), 3) as { steps: Step[] }).steps);
  const held = sharer.observe();
  const gone = { ...held, loops: [] };
  let asked = 0;
  const not = explain('OperationPaused', {
    ...{ kind: 'Volume', name: 'data1', resume: 'volume data1' },
  });
  const notYet = async () => (asked++ > 0 ? not : undefined);
  expect((await detaching([held, gone], unused, desired, notYet)).outcome).toMatchObject({
    is: 'attached',
    safeToMount: false,
    message: 'Volume data1 is paused. To resume it: stowage resume volume data1',
    detail: not.detail,
  });
});
