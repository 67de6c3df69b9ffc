import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../src/api/volume.ts';
import { decide } from '../../../src/volumes/decide.ts';
import type { Input } from '../../../src/volumes/types.ts';
import { away, outcome, pending, prepared, type Row, status, step } from '../../support/decisions.ts';
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
  volume,
} from '../../support/volume-input.ts';

const OTHER = '11111111-2222-4333-8444-555555555555';

/** One that starts from another. */
const from = (given: ReturnType<typeof pending>) => {
  const plain = volume(given);
  return { ...plain, spec: { ...plain.spec, source: { volumeName: 'x' } } };
};

const logical = ({ spec: { sparseLoopDevice: _, ...spec }, ...more }: Volume): Volume => ({
  ...more,
  spec: { ...spec, lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } },
});

describe('Volume Deployment', () => {
  const rows: Row[] = [
    [
      'DeployVolume: Job, no value → add the finalizer on the Volume',
      { volume: volume(undefined, { finalizers: [] }) },
      'add-finalizer',
    ],
    [
      'DeployVolume: Job, no value → spawn PrepareVolume, Pending, reschedule now',
      {},
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      'DeployVolume: Job of another kind counts as no value',
      { volume: volume(pending('AttachVolume/4')) },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      "DeployVolume: Job of MetalK8s's operator (a Salt job) counts as no value",
      { volume: volume(pending('PrepareVolume/20260102030405123456')) },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      'DeployVolume: Job, "DONE" without a record of what was made counts as no value',
      { volume: volume(pending('PrepareVolume/DONE')) },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      'DeployVolume: Job ID → poll the status of the job',
      { volume: volume(pending('PrepareVolume/1')) },
      'poll',
    ],
    [
      'DeployVolume: Job ID, and it starts from something → read that first',
      { volume: from(pending('PrepareVolume/1')), job: { known: { state: 'not-found' } } },
      'read-source',
    ],
    [
      'DeployVolume: Job ID, and what it starts from is not there → Pending, never an empty volume',
      {
        volume: from(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
        source: { problem: 'it is gone' },
      },
      [
        'Pending',
        'PrepareVolume/1',
        'Unknown',
        'WaitingForSource',
        'it is gone. It is made once that is there',
      ],
    ],
    [
      'DeployVolume: Job ID, and what it started from is gone, while its job runs → Pending, says where that is',
      {
        volume: from(pending('PrepareVolume/1')),
        job: { known: { state: 'running', step } },
        source: { problem: 'it is gone' },
      },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', step.name],
    ],
    [
      'DeployVolume: Job ID, and what it started from is gone, once its job is done → what was made counts',
      {
        volume: from(pending('PrepareVolume/1')),
        job: { known: { state: 'succeeded' } },
        observation: { known: readyNode },
        source: { problem: 'it is gone' },
      },
      'forget-jobs',
    ],
    [
      'DeployVolume: Job ID, and what it started from is gone, half way → Pending, never an empty volume',
      {
        volume: from(pending('PrepareVolume/1')),
        job: { known: { state: 'died', step } },
        observation: { known: { ...madeNode, done: undefined } },
        source: { problem: 'it is gone' },
      },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'WaitingForSource', expect.stringContaining('it is gone')],
    ],
    [
      'DeployVolume: Job ID, and what it started from is gone, once it was made → looks at what was made',
      {
        volume: from(pending('PrepareVolume/2', { prepared })),
        job: { known: { state: 'not-found' } },
      },
      'observe',
    ],
    [
      'DeployVolume: Job ID, and what it starts from is in use → Pending, so that whoever waits for it is told',
      {
        volume: from(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: {
          known: {
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
        },
        source: { from: { file: `/s/${OTHER}`, mode: 'Filesystem', what: 'volume' } },
      },
      [
        'Pending',
        'PrepareVolume/1',
        'Unknown',
        'WaitingForSource',
        expect.stringMatching('/dev/loop3 is mounted at /mnt, and'),
      ],
    ],
    [
      'DeployVolume: Job ID, of another type than what it starts from → Failed, never an empty volume',
      {
        volume: logical(from(pending('PrepareVolume/1'))),
        job: { known: { state: 'not-found' } },
        source: { from: { file: `/s/${OTHER}`, mode: 'Filesystem', what: 'volume' } },
      },
      [
        'Failed',
        'PrepareVolume/1',
        'False',
        'CreationError',
        expect.stringMatching('of another type than what it starts from'),
      ],
    ],
    [
      'DeployVolume: Job ID, job still in progress → Pending, says where it is',
      { volume: volume(pending('PrepareVolume/1')), job: { known: { state: 'running' } } },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', 'waits for an earlier job of this volume'],
    ],
    [
      'DeployVolume: Job ID, job still in progress → reschedule when it has ended',
      {
        volume: volume(status('Pending', 'PrepareVolume/1', ['Unknown', 'Pending', step.name])),
        job: { known: { state: 'running', step } },
      },
      { follow: true },
    ],
    [
      'DeployVolume: Job ID, job not found → looks at the node before it is relaunched',
      { volume: volume(pending('PrepareVolume/1')), job: { known: { state: 'not-found' } } },
      'observe',
    ],
    [
      'DeployVolume: Job ID, job not found → relaunch the job',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
        allotted: new Set([0, 1]),
      },
      ['submit', 16, 2],
    ],
    [
      'a second attempt waits a second',
      {
        volume: volume(pending('PrepareVolume/2')),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
      },
      { requeueAfter: 900 },
      NOW + 100,
    ],
    [
      'and is submitted after it',
      {
        volume: volume(pending('PrepareVolume/2')),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
      },
      ['submit', 16, 0],
      NOW + 1000,
    ],
    [
      'DeployVolume: Job ID, job not found, and all is there → cleans up its jobs',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { known: readyNode },
      },
      'forget-jobs',
    ],
    [
      'DeployVolume: Job ID, job succeed → Job is "DONE", reschedule now',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'succeeded' } },
        observation: { known: readyNode },
        forgotten: true,
      },
      ['Pending', 'PrepareVolume/DONE', 'Unknown', 'Pending', ''],
    ],
    [
      'DeployVolume: Job ID, job succeed, and the link is not there → another attempt',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'succeeded' } },
        observation: { known: { ...readyNode, link: undefined } },
      },
      [
        'Pending',
        'PrepareVolume/2',
        'Unknown',
        'Pending',
        'attempt 1 ended early: still to be done: have udev look at /dev/loop3 again',
      ],
    ],
    [
      'DeployVolume: Job ID, refused by what is on the node → Failed, with what to do',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { known: { ...freshNode, file: { type: 'file', sizeBytes: 1n, inode: '1' } } },
      },
      [
        'Failed',
        'PrepareVolume/1',
        'False',
        'CreationError',
        expect.stringMatching(/is there already, and nothing on the node says that Stowage made it\. Look/),
      ],
    ],
    [
      'DeployVolume: Job ID, job failed → Failed, with step, command and what it printed',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'failed', step, exit: 1, output: 'No space left on device\n' } },
      },
      [
        'Failed',
        'PrepareVolume/1',
        'False',
        'CreationError',
        `the step "make the ext4 file system" failed with status 1: 'mkfs.ext4' 'x': No space left on device`,
      ],
    ],
    [
      'DeployVolume: Job ID, job failed, and it starts from something → another attempt',
      {
        volume: from(pending('PrepareVolume/1')),
        job: { known: { state: 'failed', step, exit: 1, output: 'no whole copy' } },
        source: { from: { file: `/s/${OTHER}`, mode: 'Filesystem', what: 'volume' } },
      },
      ['Pending', 'PrepareVolume/2', 'Unknown', 'WaitingForSource', expect.stringContaining('no whole copy')],
    ],
    [
      'DeployVolume: Job ID, job failed for the eighth time, and it starts from a volume → another attempt: what is in its way passes',
      {
        volume: from(pending('PrepareVolume/8')),
        job: { known: { state: 'failed', step, exit: 1, output: 'No space left on device' } },
        source: { from: { file: `/s/${OTHER}`, mode: 'Filesystem', what: 'volume' } },
      },
      [
        'Pending',
        'PrepareVolume/9',
        'Unknown',
        'WaitingForSource',
        expect.stringMatching(/^attempt 8 ended early: .*No space left on device/),
      ],
    ],
    [
      'and for the hundredth, and it starts from a snapshot → another attempt',
      {
        volume: from(pending('PrepareVolume/100')),
        job: { known: { state: 'died', step } },
        source: { from: { file: `/s/snapshots/${OTHER}`, mode: 'Filesystem', what: 'snapshot' } },
      },
      [
        'Pending',
        'PrepareVolume/101',
        'Unknown',
        'WaitingForSource',
        expect.stringContaining('attempt 100 ended early'),
      ],
    ],
    [
      'an attempt waits for five minutes at most',
      {
        volume: volume(pending('PrepareVolume/100')),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
      },
      { requeueAfter: 1000 },
      NOW + 299_000,
    ],
    [
      'DeployVolume: Job ID, job died → another attempt',
      { volume: volume(pending('PrepareVolume/3')), job: { known: { state: 'died', step } } },
      ['Pending', 'PrepareVolume/4', 'Unknown', 'Pending', expect.stringContaining('attempt 3 ended early')],
    ],
    [
      'outrun: another attempt',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'raced', step, exit: 1, output: 'busy' } },
      },
      ['Pending', 'PrepareVolume/2', 'Unknown', 'Pending', expect.stringContaining('busy')],
    ],
    [
      'a guard did not hold: another attempt',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'guarded', step, refusal: 'it changed', output: '' } },
      },
      ['Pending', 'PrepareVolume/2', 'Unknown', 'Pending', expect.stringContaining('it changed')],
    ],
    [
      'the eighth attempt is the last',
      { volume: volume(pending('PrepareVolume/8')), job: { known: { state: 'died' } } },
      ['Failed', 'PrepareVolume/8', 'False', 'CreationError', expect.stringContaining('after 8 attempts')],
    ],
    [
      'node away: Ready is Unknown and the phase stays',
      { volume: volume(pending('PrepareVolume/1')), job: away },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'node still away, and ssh words it otherwise: nothing is written within a minute',
      {
        volume: volume(
          status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', 'pid 4711: no route']),
        ),
        job: away,
      },
      { retry: true },
      NOW + 59_000,
    ],
    [
      'and is told after it',
      {
        volume: volume(
          status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', 'pid 4711: no route']),
        ),
        job: away,
      },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
      NOW + 60_000,
    ],
    [
      'udev is away for now: stays Pending, says so and tries again',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { known: { ...freshNode, udev: false } },
      },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', expect.stringContaining('no udev runs')],
    ],
    [
      'refused after a name that was written just now: a job of before a restored backup may be in the way, so it is asked for',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' }, assumed: true },
        observation: { known: { ...freshNode, file: { type: 'other' } } },
      },
      'poll',
    ],
    [
      'a time of another clock keeps no attempt waiting',
      {
        volume: volume(pending('PrepareVolume/2')),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
      },
      ['submit', 16, 0],
      NOW - 3_600_000,
    ],
    [
      'a node whose answer is not understood is not called unreachable',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { unknown: 'the node lacks a tool', reason: 'NodeUnclear' },
      },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'NodeUnclear', 'the node lacks a tool'],
    ],
    [
      'node still away: later again',
      {
        volume: volume(status('Pending', 'PrepareVolume/1', ['Unknown', 'NodeUnreachable', away.unknown])),
        job: away,
      },
      { retry: true },
    ],
    [
      'DeployVolume: "DONE" → create the PersistentVolume',
      { volume: volume(pending('PrepareVolume/DONE', { prepared })) },
      'create-pv',
    ],
    [
      'DeployVolume: "DONE", and it started from something → look at what file system that was',
      { volume: from(pending('PrepareVolume/DONE', { prepared })) },
      'observe',
    ],
    [
      'DeployVolume: "DONE", and the node does not say what file system it has → no PersistentVolume that says a wrong one',
      { volume: from(pending('PrepareVolume/DONE', { prepared })), observation: away },
      ['Pending', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'DeployVolume: "DONE", and there is no file system any more → Pending, says so and looks again',
      {
        volume: from(pending('PrepareVolume/DONE', { prepared, devicePath: '/dev/x' })),
        observation: { known: { ...readyNode, signature: { found: 'none' } } },
      },
      [
        'Pending',
        'PrepareVolume/DONE',
        'Unknown',
        'NodeUnclear',
        '/dev/x should hold a file system, and none was found. The PersistentVolume is made once there is one',
      ],
    ],
    [
      'DeployVolume: "DONE", and the API server refuses the PersistentVolume → Failed',
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pvRefused: { why: 'spec: may have one source', passing: false },
      },
      [
        'Failed',
        'PrepareVolume/DONE',
        'False',
        'CreationError',
        expect.stringContaining('may have one source'),
      ],
    ],
    [
      'DeployVolume: "DONE", and the API server does not allow the PersistentVolume → later again',
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pvRefused: { why: 'User "x" cannot create', passing: true },
      },
      [
        'Pending',
        'PrepareVolume/DONE',
        'Unknown',
        'Pending',
        expect.stringContaining('User "x" cannot create'),
      ],
    ],
    [
      "DeployVolume: DONE, and the name is taken by someone else's PersistentVolume → Failed",
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Bound', { ownerReferences: [] }),
        livePv: { found: pv('Bound', { ownerReferences: [] }) },
      },
      ['Failed', 'PrepareVolume/DONE', 'False', 'CreationError', expect.stringContaining('does not belong')],
    ],
    [
      "someone else's PersistentVolume in the cache: the API server is asked",
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Bound', { ownerReferences: [] }),
      },
      'read-pv',
    ],
    [
      "someone else's PersistentVolume that the cache alone has still",
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Bound', { ownerReferences: [] }),
        livePv: { found: undefined },
      },
      'create-pv',
    ],
    [
      'its own PersistentVolume, which the cache does not have yet',
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Bound', { ownerReferences: [] }),
        livePv: { found: pv('Available') },
      },
      { retry: true },
    ],
    ['class missing in the cache: the API server is asked', { storageClass: undefined }, 'read-class'],
    [
      'class wrong in the cache: the API server is asked',
      { storageClass: { ...storageClass, parameters: { fsType: 'zfs' } } },
      'read-class',
    ],
    [
      'class that only the API server has yet',
      { storageClass: undefined, liveClass: { found: storageClass } },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      'class that was exchanged for one that is right',
      {
        storageClass: { ...storageClass, parameters: { fsType: 'zfs' } },
        liveClass: { found: storageClass },
      },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
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
      ['Failed', undefined, 'False', 'CreationError', expect.stringContaining('unsupported filesystem: zfs')],
    ],
    [
      'no type',
      { volume: { ...volume(), spec: { nodeName: 'n1', storageClassName: 'local' } } },
      ['Failed', undefined, 'False', 'InternalError', 'volume type not found in Volume Spec'],
    ],
    [
      'Failed: nothing to be done',
      { volume: volume(status('Failed', 'PrepareVolume/1', ['False', 'CreationError'])) },
      {},
    ],
    [
      'a new generation retries a Failed Volume',
      {
        volume: volume(status('Failed', 'PrepareVolume/1', ['False', 'CreationError']), { generation: 2 }),
      },
      ['Pending', 'PrepareVolume/2', 'Unknown', 'Pending', ''],
    ],
    [
      'made before, and the file is gone: never made anew',
      {
        volume: volume(pending('PrepareVolume/1', { prepared })),
        job: { known: { state: 'not-found' } },
        observation: { known: freshNode },
      },
      ['Failed', 'PrepareVolume/1', 'False', 'CreationError', expect.stringContaining('is missing now')],
    ],
    [
      'DeployVolume: Job ID, job failed, and told so → not rescheduled',
      {
        volume: volume(status('Failed', 'PrepareVolume/1', ['False', 'CreationError', 'why'])),
        job: { known: { state: 'failed', step, exit: 1, output: '' } },
      },
      {},
    ],
    [
      'DeployVolume: the PersistentVolume is created → Available, once its device was looked at',
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Available'),
        observation: { known: readyNode },
      },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''],
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});

describe('a class that is missing or wrong: it is said how to retry', () => {
  const wrong = { ...storageClass, parameters: { fsType: 'zfs' } };
  const message = (parts: Partial<Input>) => (outcome(parts) as string[])[4];

  test.each([
    ['missing', undefined],
    ['wrong', wrong],
  ])('%s: by a change of the spec that changes nothing else', (_, found) => {
    expect(message({ liveClass: { found } })).toContain(
      `kubectl patch volume data1 --type merge -p '{"spec":{"attachPolicy":"Always"}}'`,
    );
  });

  test('not by a change that was made before', () => {
    const said = message({
      volume: { ...volume(), spec: { ...volume().spec, attachPolicy: 'Always' } },
      liveClass: { found: undefined },
    });
    expect(said).not.toContain('kubectl patch');
    expect(said).toContain('delete this Volume and create it again');
  });

  test('the class alone wakes nothing, the changed spec does', () => {
    const failed = status('Failed', undefined, ['False', 'CreationError']);
    expect(outcome({ volume: volume(failed) })).toEqual({});
    expect(outcome({ volume: volume(failed, { generation: 2 }) })).toEqual([
      'Pending',
      'PrepareVolume/1',
      'Unknown',
      'Pending',
      '',
    ]);
  });
});

describe('the file system that a PersistentVolume says', () => {
  const made = volume(pending('PrepareVolume/DONE', { prepared }));
  const copied = from(pending('PrepareVolume/DONE', { prepared }));
  const has = (type: string) => ({
    observation: { known: { ...readyNode, signature: { found: 'one', type, uuid: UID } as const } },
  });
  const block = { ...copied, spec: { ...copied.spec, mode: 'Block' as const } };
  test.each<[string, Partial<Input>, string | undefined]>([
    ['of what mkfs made is the class’s', { volume: made }, 'ext4'],
    ['of a copy is that of what it was copied from', { volume: copied, ...has('xfs') }, 'xfs'],
    ['of a copy of what the class would make', { volume: copied, ...has('ext4') }, 'ext4'],
    ['of a block device is none', { volume: block, ...has('gpt') }, undefined],
  ])('%s', (_, parts, type) => {
    const { action } = decide(input(parts), NOW);
    expect(action?.do === 'create-pv' && action.pv.spec.local?.fsType).toBe(type);
  });
});

describe('a Volume that is attached where a pod needs it', () => {
  const onDemand = (made = pending('PrepareVolume/1')) => {
    const whole = volume(made);
    return { ...whole, spec: { ...whole.spec, attachPolicy: 'OnDemand' as const } };
  };
  const notFound = { known: { state: 'not-found' } } as const;

  test('is made, and not attached', () => {
    const { action } = decide(
      input({ volume: onDemand(), job: notFound, observation: { known: freshNode } }),
      NOW,
    );
    const programs = action?.do === 'submit' ? action.steps.map(({ argv }) => argv[0]) : [];
    expect(programs).toContain('mkfs.ext4');
    expect(programs).not.toContain('losetup');
  });

  test('is done without its device, and the path is known that this will have', () => {
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
      devicePath: `/dev/disk/by-uuid/${UID}`,
      prepared,
    };
    expect(action).toMatchObject({ do: 'set-status', status: expected });
    expect(action?.do === 'set-status' && action.status).not.toHaveProperty('deviceName');
  });

  test('needs no udev to be made', () => {
    const parts = { job: notFound, observation: { known: { ...freshNode, udev: false } } };
    expect(outcome({ volume: onDemand(), ...parts })).toEqual(['submit', expect.any(Number), 0]);
  });
});
