import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../src/api/core.ts';
import { parseDuration } from '../../src/api/duration.ts';
import { parseHandle } from '../../src/api/snapshot-handle.ts';
import { validateVolume } from '../../src/api/validate-volume.ts';
import type { Volume } from '../../src/api/volume.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import { createGuardExecutor } from '../../src/nodes/guard-executor.ts';
import type { Executor, Probe, ProbeResult, Step } from '../../src/nodes/job.ts';
import { jobScript } from '../../src/nodes/job-script.ts';
import { quoteAll } from '../../src/nodes/quote.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { claimSource } from '../../src/population/definition.ts';
import { decideClaim } from '../../src/provisioning/claims/decide-claim.ts';
import { dynamicClass } from '../../src/provisioning/claims/dynamic-class.ts';
import { droppedSource } from '../../src/provisioning/sources/dropped.ts';
import { LSBLK } from '../../src/storage/block-devices.ts';
import { readFolders } from '../../src/storage/node-check/files.ts';
import { systemProbes } from '../../src/storage/node-check/system.ts';
import { observe } from '../../src/storage/observe.ts';
import { plan } from '../../src/storage/plan.ts';
import { readMade } from '../../src/storage/populate/backup.ts';
import { readProgress } from '../../src/storage/populate/progress.ts';
import { answersOf, ObservationError } from '../../src/storage/probe-results.ts';
import { readSnapshot, snapshotProbes } from '../../src/storage/snapshot/observe.ts';
import { planSnapshot } from '../../src/storage/snapshot/plan.ts';
import type { Desired } from '../../src/storage/types.ts';
import { desiredOf } from '../../src/volumes/desired.ts';
import { addressOfNode, addressProblems, minionOfNode } from '../../src/volumes/node-address.ts';
import { checkClass } from '../../src/volumes/storage-class.ts';
import { input, node, pod } from '../provisioning/claim-input.ts';
import { missing, result } from '../support/fake-executor.ts';
import { lvmDesired } from '../support/lvm-input.ts';
import { diskRow, lvRow, report, segmentRow, vgRow } from '../support/lvm-reports.ts';
import { rawDesired } from '../support/raw-input.ts';
import { wantedCopy } from '../support/snapshot-copy.ts';
import { MADE } from '../support/sparse-answers.ts';
import { sparseDesired, storageClass, UID } from '../support/volume-input.ts';
import { annotations, answer, anything, identity, probeResult, quantity, text, word } from './hostile.ts';

/** One kind of hostile input, and what has to hold for it. */
export interface Target {
  name: string;
  /** Share of all runs. */
  share: number;
  property(): fc.IAsyncProperty<[never]> | fc.IAsyncProperty<unknown> | fc.IProperty<unknown>;
  /** Checks what was collected over all runs. */
  after?(): void;
}

const OPERATIONS = ['prepare', 'present', 'absent', 'destroy'] as const;

const GIB = 1 << 30;

/** Longest time that one input may take, in ms. A busy machine needs ten times what one at rest needs. */
const MAX_MS = 20_000;

/** Runs what may throw errors of these classes alone, and ends in time. */
async function tame(
  run: () => unknown,
  ...allowed: (abstract new (
    ...words: never[]
  ) => Error)[]
): Promise<void> {
  const begin = performance.now();
  try {
    await run();
  } catch (error) {
    if (!allowed.some((each) => error instanceof each)) throw error;
  }
  const ms = performance.now() - begin;
  if (ms > MAX_MS) throw new Error(`it took ${Math.round(ms)} ms`);
}

/** Command lines of plans, each once, until a real shell has read them. */
const lines = new Map<string, readonly string[]>();

function collect(steps: readonly Step[]): void {
  const job = { key: { subject: UID, id: 'prepare-1' }, steps };
  const script = jobScript(job, 'n1');
  for (const { argv, guards } of steps) {
    for (const each of [argv, ...guards.map((guard) => guard.argv)]) {
      const bad = each.find((element) => /[\0\n]/.test(element));
      if (bad !== undefined) throw new Error(`an argument with NUL or a newline: ${JSON.stringify(each)}`);
      const line = quoteAll(each);
      if (!script.includes(line)) throw new Error(`not quoted as it is in the script: ${line}`);
      lines.set(line, each);
    }
  }
  if (lines.size > 2000) throughShell();
}

/** Has a real `sh` print the arguments of each line collected, and compares them. */
function throughShell(): void {
  const all = [...lines];
  lines.clear();
  const script = all.map(([line, argv]) => `printf '%s\\0' ${argv.length} ${line}\n`).join('');
  const printed = execFileSync('sh', [], { input: script, maxBuffer: 1 << 30 })
    .toString('utf8')
    .split('\0');
  for (const [line, argv] of all) {
    const got = printed.splice(0, Number(printed.shift()));
    const sent = argv.map((each) => each.toWellFormed());
    if (JSON.stringify(got) !== JSON.stringify(sent))
      throw new Error(`sh reads ${line} as ${JSON.stringify(got)}`);
  }
}

/** Number of plans with steps. */
let planned = 0;

const desired: fc.Arbitrary<Desired> = fc
  .record({
    base: fc.constantFrom<Desired>(sparseDesired, rawDesired, lvmDesired, {
      ...lvmDesired,
      thinPool: 'pool',
    }),
    isBlock: fc.boolean(),
    recorded: fc.boolean(),
    onDelete: fc.constantFrom('Delete', 'Retain', 'Wipe'),
    shared: fc.boolean(),
    readOnly: fc.boolean(),
    overwrite: fc.constantFrom(undefined, 'unknown data', `ext4:${UID}`),
    // As whoever may write a status writes it.
    identity: fc.option(identity, { nil: undefined }),
  })
  .map(({ base, isBlock, overwrite, identity: known, shared, readOnly, ...more }) => ({
    ...base,
    ...more,
    ...(isBlock ? { mode: 'Block', fs: undefined } : {}),
    ...(base.type === 'sparse'
      ? { readOnly, ...(shared && { shared, owner: { node: 'n1', token: 't' } }) }
      : { overwrite, identity: known }),
  })) as fc.Arbitrary<Desired>;

/** What a node in order answers, by the beginning of a command. */
const USUAL: readonly (readonly [start: string, answer: ProbeResult])[] = [
  ['losetup -J', result(0)],
  [
    LSBLK.join(' '),
    result(
      0,
      JSON.stringify({
        blockdevices: [
          {
            kname: 'sdb',
            'maj:min': '8:16',
            pkname: null,
            type: 'disk',
            size: GIB,
            serial: 'S1',
            wwn: '0x5000',
          },
          {
            kname: 'dm-3',
            'maj:min': '253:3',
            pkname: 'sdb',
            type: 'lvm',
            size: GIB,
            serial: null,
            wwn: null,
          },
        ].map((row) => ({ ...row, ro: false })),
      }),
    ),
  ],
  ['cat /proc/', result(0)],
  ['test -S', result(0)],
  ['vgs ', report('vg', vgRow())],
  ['lvs ', report('lv', lvRow())],
  ['lvmconfig ', result(5)],
  ['pvs --segments', report('pvseg', segmentRow('/dev/sda', 0, 100), segmentRow('/dev/sda', 100, 56))],
  ['pvs --reportformat', report('pv', diskRow('/dev/sda'))],
  ['blockdev ', result(0)],
  ['dd ', result(0)],
  ['cmp ', result(0)],
  ['blkid ', result(2)],
  ['wipefs ', result(0, '{"signatures":[]}')],
  ['lsblk --raw', result(0, 'sdb 8:16  disk 1073741824 0 S1 0x5000\n')],
  ['stat -L -c %F|%t:%T', result(0, 'block special file|8:10')],
  ['cat /sys/class/block/', result(0, '1')],
  ['find -H /var/lib/kubelet', result(0, '/dev/null')],
  ['find -L /dev/disk/by-id', result(0, '/dev/disk/by-id/wwn-0x5000\n')],
];
const usual = ({ name, argv }: Probe, wanted: Desired['type']): ProbeResult =>
  (wanted === 'sparse' ? MADE[name] : undefined) ??
  USUAL.find(([start]) => argv.join(' ').startsWith(start))?.[1] ??
  missing;

/** A node that answers each probe by the next of these, or as one in order where that is null. */
const lookOf = (answers: readonly (ProbeResult | null)[], wanted: Desired['type'] = 'sparse') => {
  let next = 0;
  return async (probes: readonly Probe[]) =>
    new Map(
      probes.map((probe) => [probe.name, answers[next++ % answers.length] ?? usual(probe, wanted)] as const),
    );
};
/** Mostly in order: else each observation ends at its first answer. */
const results = fc.oneof(
  ...[0, 1, 4, 20].map((odd) =>
    fc.array(
      fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, { weight: odd, arbitrary: probeResult }),
      { minLength: 20, maxLength: 60 },
    ),
  ),
);

const PROBES: readonly Probe[] = [
  { name: 'a', argv: ['true'] },
  { name: 'b', argv: ['true'] },
];
const KEY = { subject: UID, id: 'prepare-1' };
async function askAll(executor: Executor): Promise<void> {
  for (const ask of [
    () => executor.observe('n1', PROBES),
    () => executor.poll('n1', [KEY], 1000),
    () => executor.submit('n1', { key: KEY, steps: [] }, 0),
    () => executor.forget('n1', UID),
    () => executor.subjects('n1'),
  ])
    await tame(ask, NodeError);
}

const claim = fc.record({
  annotations,
  name: fc.oneof(word, fc.constantFrom('data', `prime-${UID}`)),
  spec: fc.record({
    accessModes: fc.array(fc.oneof(fc.constant('ReadWriteOnce'), word), { maxLength: 2 }),
    volumeMode: fc.constantFrom('Filesystem', 'Block', undefined),
    size: quantity,
    dataSource: fc.oneof(fc.constant(undefined), fc.record({ kind: word, name: word, apiGroup: word })),
  }),
  phase: fc.constantFrom('Pending', 'Bound', 'Lost', undefined),
  capacity: quantity,
});
const parameters = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'type',
      'directory',
      'vgName',
      'thinPool',
      'overcommit',
      'fsType',
      'mkfsOptions',
      'requireMount',
    ),
    word,
  ),
  fc.oneof(text, fc.constantFrom('lvm', 'sparse', '1', 'true', 'vg0', '/srv/x', '["-m","0"]')),
  { maxKeys: 5 },
);
const taint = fc.record({ key: word, value: word, effect: fc.constantFrom('NoSchedule', 'NoExecute', 'x') });
const toleration = fc.record({
  key: word,
  operator: fc.constantFrom('Exists', 'Equal', ''),
  value: word,
  effect: word,
});

const volume = fc.record({
  spec: fc.dictionary(
    fc.constantFrom(
      ...['nodeName', 'storageClassName', 'mode', 'onDelete', 'overwrite', 'template', 'source', 'adopt'],
      ...['sparseLoopDevice', 'rawBlockDevice', 'lvmLogicalVolume'],
    ),
    fc.oneof(
      anything,
      fc.record({ size: fc.oneof(quantity, anything) }),
      fc.record({ size: quantity, directory: word.map((each) => `/srv/${each}`) }),
      fc.record({ devicePath: word.map((each) => `/dev/${each}`) }),
      fc.record({ vgName: fc.oneof(fc.constant('vg0'), word), size: quantity }),
    ),
  ),
  fsType: fc.oneof(fc.constantFrom('ext4', 'xfs'), word),
  mkfsOptions: text,
});

export const TARGETS: readonly Target[] = [
  {
    name: 'answers of a shell on a node',
    share: 0.2,
    property: () =>
      fc.asyncProperty(answer, (said) =>
        askAll(createShellExecutor({ run: async () => said, close: async () => {} })),
      ),
  },
  {
    name: 'answers of the forced command',
    share: 0.1,
    property: () =>
      fc.asyncProperty(
        fc.oneof(
          text,
          anything.map((each) => JSON.stringify(each) ?? ''),
        ),
        (said) => askAll(createGuardExecutor({ run: async () => said, close: async () => {} })),
      ),
  },
  {
    name: 'observations of a volume, and the plans made of them',
    share: 0.3,
    property: () =>
      fc.asyncProperty(desired, results, (wanted, answers) =>
        tame(async () => {
          const observed = await observe(lookOf(answers, wanted.type), wanted);
          for (const operation of OPERATIONS) {
            const made = plan(operation, wanted, observed, 3);
            if ('steps' in made) {
              planned += 1;
              collect(made.steps);
            }
          }
        }, ObservationError),
      ),
    after() {
      throughShell();
      // What is refused at the door shows nothing of what is behind it.
      if (planned < 100) throw new Error(`only ${planned} plans had steps`);
    },
  },
  {
    name: 'observations of snapshots, backups and directories',
    share: 0.1,
    property: () =>
      fc.asyncProperty(results, async (answers) => {
        const look = lookOf(answers);
        await tame(async () => {
          const seen = readSnapshot(wantedCopy, await look(snapshotProbes(wantedCopy)));
          for (const operation of ['take', 'delete'] as const) {
            const made = planSnapshot(operation, wantedCopy, seen);
            if ('steps' in made) collect(made.steps);
          }
        }, ObservationError);
        const get = (_name: string) => (answers.find((each) => each !== null) ?? missing) as ProbeResult;
        await tame(() => readFolders(['/srv'], get), ObservationError);
        await tame(() => readMade(new Map([['made', get('')]])), ObservationError);
        await tame(() => readProgress(get('').stdout));
        await tame(() => answersOf(new Map())(systemProbes()[0]?.name ?? ''), ObservationError);
      }),
    after: throughShell,
  },
  {
    name: 'claims, their annotations and their classes',
    share: 0.15,
    property: () =>
      fc.asyncProperty(
        claim,
        parameters,
        fc.boolean(),
        taint,
        toleration,
        (of, given, waits, tainted, tolerated) =>
          tame(() => {
            const { size, dataSource, ...spec } = of.spec;
            const made = {
              apiVersion: 'v1',
              kind: 'PersistentVolumeClaim',
              metadata: { namespace: 'prod', name: of.name, uid: UID, annotations: of.annotations },
              spec: {
                ...spec,
                storageClassName: 'dynamic',
                resources: { requests: { storage: size } },
                dataSource,
              },
              status: { phase: of.phase, capacity: { storage: of.capacity } },
            } as unknown as PersistentVolumeClaim;
            const ofClass: StorageClass = {
              apiVersion: 'storage.k8s.io/v1',
              kind: 'StorageClass',
              metadata: { name: 'dynamic' },
              provisioner: 'volume.stowage.dev',
              volumeBindingMode: waits ? 'WaitForFirstConsumer' : 'Immediate',
              parameters: given,
            };
            dynamicClass(ofClass);
            claimSource(made);
            droppedSource(made);
            const nodes = [{ ...node('n1'), spec: { taints: [tainted] } }];
            decideClaim(
              input({
                claim: made,
                storageClass: ofClass,
                nodes,
                consumers: [pod({ tolerations: [tolerated] })],
              }),
              0,
            );
          }),
      ),
  },
  {
    name: 'Volumes, Nodes and handles',
    share: 0.15,
    property: () =>
      fc.asyncProperty(volume, annotations, text, ({ spec, fsType, mkfsOptions }, given, handle) =>
        tame(() => {
          const object = {
            apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
            kind: 'Volume',
            metadata: { name: 'data1', uid: UID, annotations: given },
            spec,
          } as unknown as Volume;
          const options = checkClass(
            { ...storageClass, parameters: { fsType, mkfsOptions } },
            object.spec.mode,
          );
          if (validateVolume(object).length === 0 && !('problem' in options)) desiredOf(object, options);
          const of = {
            apiVersion: 'v1',
            kind: 'Node',
            metadata: { name: 'n1', annotations: given },
          } as KubeNode;
          addressProblems(of);
          addressOfNode(of);
          minionOfNode(of);
          parseHandle(handle);
          parseDuration(handle);
        }),
      ),
  },
];
