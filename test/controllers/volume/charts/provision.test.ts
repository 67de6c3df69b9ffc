import { describe, expect, test } from '@jest/globals';
import { explain } from '../../../../src/api/reasons.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import { decide } from '../../../../src/controllers/volume/decide.ts';
import type { Input } from '../../../../src/controllers/volume/types.ts';
import {
  away,
  creationFailed,
  given,
  isAvailable,
  outcome,
  pending,
  prepared,
  preparing,
  type Row,
  status,
  step,
  stepRuns,
  waitingForSource,
} from '../../../support/decisions.ts';
import {
  freshNode,
  input,
  loop,
  madeNode,
  NOW,
  pv,
  readyNode,
  storageClass,
  UID,
  unmounted,
  volume,
} from '../../../support/volume-input.ts';

const OTHER = '11111111-2222-4333-8444-555555555555';

type Parts = Parameters<typeof given>[1];

/**
 * Volumes at that attempt of their job, provisioned Volumes, and Volumes that start from a source.
 */
const making = (attempt: number | 'DONE', parts?: Parts) =>
  given(pending(`PrepareVolume/${attempt}`), parts);
const made = (parts?: Parts) => given(pending('PrepareVolume/DONE', { prepared }), parts);
const copying = (made: ReturnType<typeof pending>, parts?: Parts) =>
  given(made, { spec: { source: { volumeName: 'x' } }, ...parts });
const copy = (attempt: number, parts?: Parts) =>
  copying(pending(`PrepareVolume/${attempt}`), parts);
const fromFile = (what: 'volume' | 'snapshot' = 'volume'): Input['source'] => ({
  from: { file: `/s/${OTHER}`, mode: 'Filesystem', what },
});

const logical = ({ spec: { sparseLoopDevice: _, ...spec }, ...more }: Volume): Volume => ({
  ...more,
  spec: { ...spec, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } },
});

describe('DeployVolume', () => {
  const rows: Row[] = [
    [
      'Job, no value → add the finalizer on the Volume',
      given(undefined, { metadata: { finalizers: [] } }),
      'add-finalizer',
    ],
    ['Job, no value → spawn PrepareVolume, Pending, reschedule now', {}, preparing(1)],
    ['Job of another kind counts as no value', given(pending('AttachVolume/4')), preparing(1)],
    [
      "Job of MetalK8s's operator (a Salt job) counts as no value",
      given(pending('PrepareVolume/20260102030405123456')),
      preparing(1),
    ],
    ['Job, "DONE" without status.prepared counts as no value', making('DONE'), preparing(1)],
    ['Job ID → poll the status of the job', making(1), 'poll'],
    [
      'Job ID, with a source → reads the source first',
      copy(1, { job: 'not-found' }),
      'read-source',
    ],
    [
      'Job ID, and its source is missing → Pending, never an empty volume',
      copy(1, { job: 'not-found', node: freshNode, source: { problem: 'it is gone' } }),
      waitingForSource(1, 'waiting for the source: it is gone'),
    ],
    [
      'Job ID, and its source is gone while its job runs → Pending, with the running step',
      copy(1, { job: { state: 'running', step }, source: { problem: 'it is gone' } }),
      preparing(1, step.name),
    ],
    [
      'Job ID, and its source is gone after its job succeeded → the result counts',
      copy(1, { job: 'succeeded', node: readyNode, source: { problem: 'it is gone' } }),
      'forget-jobs',
    ],
    [
      'Job ID, and its source is gone half way → Pending, never an empty volume',
      copy(1, {
        job: { state: 'died', step },
        node: { ...madeNode, done: undefined },
        source: { problem: 'it is gone' },
      }),
      waitingForSource(1, /it is gone/),
    ],
    [
      'Job ID, and its source is gone after provisioning → observes the storage',
      copying(pending('PrepareVolume/2', { prepared }), { job: 'not-found' }),
      'observe',
    ],
    [
      'Job ID, and its source is in use → Pending, with the reason',
      copy(1, {
        job: 'not-found',
        node: {
          ...freshNode,
          source: {
            realPath: `/s/${OTHER}`,
            file: { type: 'file', sizeBytes: 1n << 30n, inode: '43' },
            signature: { found: 'one', type: 'ext4', uuid: OTHER },
            state: '1',
            mayClone: false,
          },
          loops: [{ ...loop, backingFile: `/s/${OTHER}`, backingInode: '43' }],
          mounts: new Map([[loop.device, ['/mnt']]]),
        },
        source: fromFile(),
      }),
      waitingForSource(1, /\/dev\/loop3 is mounted at \/mnt, and/),
    ],
    [
      'Job ID, and its directory is not mounted → Pending, and retried',
      making(1, { job: 'not-found', node: { ...freshNode, directory: unmounted } }),
      [
        ...['Pending', 'PrepareVolume/1', 'Unknown', 'DirectoryNotMounted'],
        expect.stringContaining('is not mounted'),
      ],
    ],
    [
      'Job ID, of another type than its source → Failed, never an empty volume',
      {
        volume: logical(copy(1).volume),
        job: { known: { state: 'not-found' } },
        source: fromFile(),
      },
      creationFailed(1, /source and volume have different types/),
    ],
    [
      'Job ID, job still in progress → Pending, with its progress',
      making(1, { job: 'running' }),
      preparing(1, 'waiting for an earlier job of this volume'),
    ],
    [
      'Job ID, job still in progress → reschedule when it has ended',
      given(status('Pending', 'PrepareVolume/1', ['Unknown', 'Pending', step.name, stepRuns]), {
        job: { state: 'running', step },
      }),
      { watch: true },
    ],
    [
      'Job ID, job not found → observes the node before the relaunch',
      making(1, { job: 'not-found' }),
      'observe',
    ],
    [
      'Job ID, job not found → relaunch the job',
      making(1, { job: 'not-found', node: freshNode, allotted: new Set([0, 1]) }),
      ['submit', 19, 2],
    ],
    [
      'a second attempt waits a second',
      making(2, { job: 'not-found', node: freshNode }),
      { requeueAfter: 900 },
      NOW + 100,
    ],
    [
      'a second attempt is submitted after the delay',
      making(2, { job: 'not-found', node: freshNode }),
      ['submit', 19, 0],
      NOW + 1000,
    ],
    [
      'Job ID, job not found, but nothing is left to do → cleans up its jobs',
      making(1, { job: 'not-found', node: readyNode }),
      'forget-jobs',
    ],
    [
      'Job ID, job succeed → Job is "DONE", reschedule now',
      making(1, { job: 'succeeded', node: readyNode, forgotten: true }),
      preparing('DONE'),
    ],
    [
      'Job ID, job succeed, but the link is missing → another attempt',
      making(1, { job: 'succeeded', node: { ...readyNode, link: undefined } }),
      preparing(2, 'attempt 1 ended early: steps remain, next: create the directory of udev rules'),
    ],
    [
      'Job ID, refused by existing data on the node → Failed, with a hint',
      making(1, {
        job: 'not-found',
        node: { ...freshNode, file: { type: 'file', sizeBytes: 1n, inode: '1' } },
      }),
      creationFailed(
        1,
        /already exists, and nothing on the node shows that Stowage created it\. Check/,
      ),
    ],
    [
      'Job ID, job failed → Failed, with step, command and output',
      making(1, { job: { state: 'failed', step, exit: 1, output: 'No space left on device\n' } }),
      creationFailed(
        1,
        `the step "make the ext4 file system" failed with status 1: 'mkfs.ext4' 'x': No space left on device`,
      ),
    ],
    [
      'Job ID, job failed, with a source → another attempt',
      copy(1, {
        job: { state: 'failed', step, exit: 1, output: 'no whole copy' },
        source: fromFile(),
      }),
      waitingForSource(2, /no whole copy/),
    ],
    [
      'Job ID, job failed for the eighth time, with a source volume → another attempt',
      copy(8, {
        job: { state: 'failed', step, exit: 1, output: 'No space left on device' },
        source: fromFile(),
      }),
      waitingForSource(9, /^attempt 8 ended early: .*No space left on device/),
    ],
    [
      'Job ID, job died for the hundredth time, with a source snapshot → another attempt',
      copy(100, { job: { state: 'died', step }, source: fromFile('snapshot') }),
      waitingForSource(101, /attempt 100 ended early/),
    ],
    [
      'an attempt waits for five minutes at most',
      making(100, { job: 'not-found', node: freshNode }),
      { requeueAfter: 1000 },
      NOW + 299_000,
    ],
    [
      'Job ID, job died → another attempt',
      making(3, { job: { state: 'died', step } }),
      preparing(4, /attempt 3 ended early/),
    ],
    [
      'a conflict: another attempt',
      making(1, { job: { state: 'raced', step, exit: 1, output: 'busy' } }),
      preparing(2, /busy/),
    ],
    [
      'a precondition did not hold: another attempt',
      making(1, { job: { state: 'guarded', step, refusal: 'it changed', output: '' } }),
      preparing(2, /it changed/),
    ],
    [
      'the eighth attempt is the last',
      making(8, { job: 'died' }),
      creationFailed(8, /after 8 attempts/),
    ],
    [
      'node away: Ready is Unknown and the phase stays',
      making(1, { job: away }),
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'node still away, with another ssh message: nothing is written within a minute',
      given(
        status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', 'pid 4711: no route']),
        {
          job: away,
        },
      ),
      { retry: true },
      NOW + 59_000,
    ],
    [
      'node still away, with another ssh message: written after a minute',
      given(
        status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', 'pid 4711: no route']),
        {
          job: away,
        },
      ),
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
      NOW + 60_000,
    ],
    [
      'node still away, with another ssh message, and a clock that was set back: written at once',
      given(
        status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', 'pid 4711: no route']),
        {
          job: away,
        },
      ),
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
      NOW - 7_200_000,
    ],
    [
      'udev is not running: stays Pending, with a message, and retries',
      making(1, { job: 'not-found', node: { ...freshNode, udev: false } }),
      preparing(1, /udev is not running/),
    ],
    [
      'refused while the job is only assumed to be missing: polls it',
      making(1, {
        job: { known: { state: 'not-found' }, assumed: true },
        node: { ...freshNode, file: { type: 'other' } },
      }),
      'poll',
    ],
    [
      'an attempt recorded by a clock that is ahead does not wait',
      making(2, { job: 'not-found', node: freshNode }),
      ['submit', 19, 0],
      NOW - 3_600_000,
    ],
    [
      'a node with an unusable answer is not called unreachable',
      making(1, {
        job: 'not-found',
        node: { unknown: 'the node lacks a tool', reason: 'NodeUnclear' },
      }),
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnclear', 'the node lacks a tool'],
    ],
    [
      'node still away, with the same message: retried later',
      given(status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', away.unknown]), {
        job: away,
      }),
      { retry: true },
    ],
    ['"DONE" → create the PersistentVolume', made({ node: readyNode }), 'create-pv'],
    ['"DONE", without an observation → observe the file system first', made(), 'observe'],
    [
      '"DONE", and the node does not answer → Pending',
      made({ node: away }),
      ['Pending', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      '"DONE", and another Node has the hostname label → no PersistentVolume, whose affinity stays',
      made({
        node: readyNode,
        hostnamesOf: () => ({
          problem: explain('HostnameLabelShared', { node: 'n1', other: 'n2', label: 'h' }),
        }),
      }),
      [
        ...['Pending', 'PrepareVolume/DONE', 'Unknown', 'Pending'],
        expect.stringContaining('Node n2 also has the label kubernetes.io/hostname h of Node n1'),
      ],
    ],
    [
      '"DONE", with a source → observes its file system',
      copying(pending('PrepareVolume/DONE', { prepared })),
      'observe',
    ],
    [
      '"DONE", and the node does not report its file system → no PersistentVolume yet',
      copying(pending('PrepareVolume/DONE', { prepared }), { node: away }),
      ['Pending', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      '"DONE", but no file system is found → Pending, with a message',
      copying(pending('PrepareVolume/DONE', { prepared, devicePath: '/dev/x' }), {
        node: { ...readyNode, signature: { found: 'none' } },
      }),
      [
        'Pending',
        'PrepareVolume/DONE',
        'Unknown',
        'NodeUnclear',
        'no file system was found on /dev/x; the PersistentVolume is created once there is one',
      ],
    ],
    [
      '"DONE", and the API server refuses the PersistentVolume → Failed',
      made({ pvRefused: { why: 'spec: may have one source', retryable: false } }),
      creationFailed('DONE', /may have one source/),
    ],
    [
      '"DONE", and the API server forbids the PersistentVolume → retried later',
      made({ pvRefused: { why: 'User "x" cannot create', retryable: true } }),
      preparing('DONE', /User "x" cannot create/),
    ],
    [
      'a foreign PersistentVolume in the cache: reads it from the API server',
      made({ pv: pv('Bound', { ownerReferences: [] }) }),
      'read-pv',
    ],
    [
      'a foreign PersistentVolume only in the cache: creates its own',
      made({
        pv: pv('Bound', { ownerReferences: [] }),
        livePv: { found: undefined },
        node: readyNode,
      }),
      'create-pv',
    ],
    [
      'its own PersistentVolume only in the API server: retried',
      made({ pv: pv('Bound', { ownerReferences: [] }), livePv: { found: pv('Available') } }),
      { retry: true },
    ],
    [
      'class missing in the cache: reads it from the API server',
      { storageClass: undefined },
      'read-class',
    ],
    [
      'class invalid in the cache: reads it from the API server',
      { storageClass: { ...storageClass, parameters: { fsType: 'zfs' } } },
      'read-class',
    ],
    [
      'class only in the API server: is used',
      { storageClass: undefined, liveClass: { found: storageClass } },
      preparing(1),
    ],
    [
      'class replaced by a valid one in the API server: is used',
      {
        storageClass: { ...storageClass, parameters: { fsType: 'zfs' } },
        liveClass: { found: storageClass },
      },
      preparing(1),
    ],
    [
      'class missing',
      { storageClass: undefined, liveClass: { found: undefined } },
      [
        'Failed',
        undefined,
        'False',
        'CreationError',
        expect.stringContaining('storage class local does not exist'),
      ],
    ],
    [
      'unsupported file system',
      {
        liveClass: {
          found: {
            apiVersion: 'storage.k8s.io/v1',
            kind: 'StorageClass',
            metadata: { name: 'local' },
            provisioner: 'x',
            parameters: { fsType: 'zfs' },
          },
        },
      },
      [
        'Failed',
        undefined,
        'False',
        'CreationError',
        expect.stringContaining('unsupported filesystem: zfs'),
      ],
    ],
    [
      'a new generation retries a Failed Volume',
      given(status('Failed', 'PrepareVolume/1', ['False', 'CreationError']), {
        metadata: { generation: 2 },
      }),
      preparing(2),
    ],
    [
      'provisioned before, but the file is gone: never provisioned again',
      given(pending('PrepareVolume/1', { prepared }), { job: 'not-found', node: freshNode }),
      creationFailed(1, /is missing now/),
    ],
    [
      'Job ID, job failed, as reported → not rescheduled',
      given(status('Failed', 'PrepareVolume/1', ['False', 'CreationError', 'why']), {
        job: { state: 'failed', step, exit: 1, output: '' },
      }),
      {},
    ],
    [
      'the PersistentVolume is created → Available, once its device was observed',
      made({ pv: pv('Available'), node: readyNode }),
      isAvailable(),
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});

describe('a missing or invalid StorageClass', () => {
  const wrong = { ...storageClass, parameters: { fsType: 'zfs' } };
  const message = (parts: Partial<Input>) => (outcome(parts) as string[])[4];

  test.each([
    ['missing', undefined],
    ['invalid', wrong],
  ])('%s: the message names the retry command', (_, found) => {
    expect(message({ liveClass: { found } })).toContain(
      'Then retry the Volume: stowage retry volume data1',
    );
  });

  test('the Volume is retried for a new generation, not for a new class', () => {
    const failed = status('Failed', undefined, ['False', 'CreationError']);
    expect(outcome(given(failed))).toEqual({});
    expect(outcome(given(failed, { metadata: { generation: 2 } }))).toEqual(preparing(1));
  });
});

describe('the file system of a PersistentVolume', () => {
  const made = volume(pending('PrepareVolume/DONE', { prepared }));
  const copied = copying(pending('PrepareVolume/DONE', { prepared })).volume;
  const has = (type: string) => ({
    observation: { known: { ...readyNode, signature: { found: 'one', type, uuid: UID } as const } },
  });
  const unreadable = {
    observation: {
      known: {
        ...freshNode,
        intent: { ...(readyNode.intent as NonNullable<typeof readyNode.intent>), fsType: 'xfs' },
      },
    },
  };
  const block = { ...copied, spec: { ...copied.spec, mode: 'Block' as const } };
  test.each<[string, Partial<Input>, string | undefined]>([
    ['is that of the class after mkfs', { volume: made, ...has('ext4') }, 'ext4'],
    ['is that of mkfs, whatever the class has by now', { volume: made, ...has('xfs') }, 'xfs'],
    ['is that of the record, if the content is unreadable', { volume: made, ...unreadable }, 'xfs'],
    ['is that of the source after a copy', { volume: copied, ...has('xfs') }, 'xfs'],
    ['is that of a source with the type of the class', { volume: copied, ...has('ext4') }, 'ext4'],
    ['is none for a block device', { volume: block, ...has('gpt') }, undefined],
  ])('%s', (_, parts, type) => {
    const { action } = decide(input(parts), NOW);
    expect(action?.do === 'create-pv' && action.pv.spec.local?.fsType).toBe(type);
  });

  test.each<[string, Partial<Input>]>([
    ['a volume without a file system', { volume: made, ...has('swap') }],
    ['a copy with unreadable content', { volume: copied, ...unreadable }],
  ])('is never guessed: no PersistentVolume for %s', (_, parts) => {
    expect(outcome(parts)).toEqual([
      ...['Pending', 'PrepareVolume/DONE', 'Unknown', 'NodeUnclear'],
      expect.stringContaining('no file system was found on the device'),
    ]);
  });
});

describe('an OnDemand Volume', () => {
  const onDemand = (made = pending('PrepareVolume/1')) => {
    const whole = volume(made);
    return { ...whole, spec: { ...whole.spec, attachPolicy: 'OnDemand' as const } };
  };
  const notFound = { known: { state: 'not-found' } } as const;

  test('is provisioned without being attached', () => {
    const { action } = decide(
      input({ volume: onDemand(), job: notFound, observation: { known: freshNode } }),
      NOW,
    );
    const programs = action?.do === 'submit' ? action.steps.map(({ argv }) => argv[0]) : [];
    expect(programs).toContain('mkfs.ext4');
    expect(programs).not.toContain('losetup');
  });

  test('is complete without a device, with its future path', () => {
    const { action } = decide(
      input({
        volume: onDemand(),
        job: { known: { state: 'succeeded' } },
        observation: { known: madeNode },
        forgotten: true,
      }),
      NOW,
    );
    const expected = {
      job: 'PrepareVolume/DONE',
      capacity: '1Gi',
      devicePath: `/dev/disk/by-id/stowage-${UID}`,
      prepared,
    };
    expect(action).toMatchObject({ do: 'set-status', status: expected });
    expect(action?.do === 'set-status' && action.status).not.toHaveProperty('deviceName');
  });

  test('is provisioned without udev', () => {
    const parts = { job: notFound, observation: { known: { ...freshNode, udev: false } } };
    expect(outcome({ volume: onDemand(), ...parts })).toEqual(['submit', expect.any(Number), 0]);
  });
});
