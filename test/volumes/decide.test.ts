import { describe, expect, test } from '@jest/globals';
import type { VolumeStatus } from '../../src/api/volume.ts';
import { decide } from '../../src/volumes/decide.ts';
import type { Input } from '../../src/volumes/types.ts';
import {
  FILE,
  freshNode,
  input,
  loop,
  madeNode,
  NOW,
  pv,
  readyNode,
  UID,
  volume,
} from '../support/volume-input.ts';

const at = new Date(NOW).toISOString();
const deleted = { deletionTimestamp: at };
const prepared = { node: 'n1', paths: [FILE], identity: `ext4 ${UID}` };

function status(
  phase: VolumeStatus['phase'],
  job: string | undefined,
  ready: [string, string, string?] = ['Unknown', 'Pending'],
  more: VolumeStatus = {},
): VolumeStatus {
  const attempt = Number(job?.split('/')[1]);
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(job === undefined ? {} : { job, attempt: attempt || 1 }),
    conditions: [
      {
        type: 'Ready',
        status: ready[0] as 'True',
        reason: ready[1],
        message: ready[2] ?? '',
        lastUpdateTime: at,
        lastTransitionTime: at,
      },
    ],
    observedGeneration: 1,
    ...more,
  };
}

const pending = (job?: string, more?: VolumeStatus) => status('Pending', job, ['Unknown', 'Pending'], more);
const available = (job = 'PrepareVolume/DONE') =>
  status('Available', job, ['True', 'Available'], {
    prepared,
    deviceName: 'loop3',
    devicePath: `/dev/disk/by-uuid/${UID}`,
    capacity: '1Gi',
  });
const terminating = (job?: string, more?: VolumeStatus) =>
  status('Terminating', job, ['Unknown', 'Terminating'], { prepared, ...more });
const step = { name: 'make the ext4 file system', command: "'mkfs.ext4' 'x'" };
const away = { unknown: 'node n1 is not reached over ssh', reason: 'NodeUnreachable' } as const;

/** What a decision comes to, short enough for a table. */
function outcome(parts: Partial<Input>, now = NOW): unknown {
  const decision = decide(input(parts), now);
  const { action } = decision;
  if (action === undefined) return decision;
  switch (action.do) {
    case 'set-status': {
      const ready = action.status.conditions?.[0];
      return [action.status.phase, action.status.job, ready?.status, ready?.reason, ready?.message];
    }
    case 'submit':
      return ['submit', action.steps.length, action.loopNumber];
    default:
      return action.do;
  }
}

type Row = [name: string, parts: Partial<Input>, expected: unknown, now?: number];

describe('Volume Deployment', () => {
  const rows: Row[] = [
    ['first the finalizer', { volume: volume(undefined, { finalizers: [] }) }, 'add-finalizer'],
    ['no job: names one and is Pending', {}, ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', '']],
    [
      'a job of another kind counts as none',
      { volume: volume(pending('AttachVolume/4')) },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      "a Salt job of MetalK8s's operator counts as none",
      { volume: volume(pending('PrepareVolume/20260102030405123456')) },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    [
      'DONE without a record of what was made counts as none',
      { volume: volume(pending('PrepareVolume/DONE')) },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', ''],
    ],
    ['job ID: asks for it', { volume: volume(pending('PrepareVolume/1')) }, 'poll'],
    [
      'job still in progress: waits for its end',
      { volume: volume(pending('PrepareVolume/1')), job: { known: { state: 'running' } } },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Pending', 'waits for an earlier job of this volume'],
    ],
    [
      'job still in progress, and told so',
      {
        volume: volume(status('Pending', 'PrepareVolume/1', ['Unknown', 'Pending', step.name])),
        job: { known: { state: 'running', step } },
      },
      { follow: true },
    ],
    [
      'job not found: looks at the node',
      { volume: volume(pending('PrepareVolume/1')), job: { known: { state: 'not-found' } } },
      'observe',
    ],
    [
      'job not found, nothing there: submits the whole plan',
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
      'job not found, all there: cleans up its jobs',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'not-found' } },
        observation: { known: readyNode },
      },
      'forget-jobs',
    ],
    [
      'then is done',
      {
        volume: volume(pending('PrepareVolume/1')),
        job: { known: { state: 'succeeded' } },
        observation: { known: readyNode },
        forgotten: true,
      },
      ['Pending', 'PrepareVolume/DONE', 'Unknown', 'Pending', ''],
    ],
    [
      'job succeeded, and the link is not there: another attempt',
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
      'refused: Failed, with what to do',
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
      'job failed: Failed, with step, command and what it printed',
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
      'job died: another attempt',
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
      'DONE: creates the PersistentVolume',
      { volume: volume(pending('PrepareVolume/DONE', { prepared })) },
      'create-pv',
    ],
    [
      'DONE, and the API server refuses the PersistentVolume',
      { volume: volume(pending('PrepareVolume/DONE', { prepared })), pvRefused: 'spec: may have one source' },
      [
        'Failed',
        'PrepareVolume/DONE',
        'False',
        'CreationError',
        expect.stringContaining('may have one source'),
      ],
    ],
    [
      "DONE, and the name is taken by someone else's PersistentVolume",
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Bound', { ownerReferences: [] }),
      },
      ['Failed', 'PrepareVolume/DONE', 'False', 'CreationError', expect.stringContaining('does not belong')],
    ],
    [
      'class missing',
      { storageClass: undefined },
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
        storageClass: {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'StorageClass',
          metadata: { name: 'local' },
          provisioner: 'x',
          parameters: { fsType: 'zfs' },
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
      'Failed, and the spec changed: another attempt',
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
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});

describe('A status that Stowage never wrote', () => {
  const rows: [string, Partial<typeof prepared>][] = [
    ['another file', { paths: ['/etc/shadow'] }],
    ['a path that leads elsewhere', { paths: [`/var/lib/../../etc/${UID}`] }],
    ['a relative path', { paths: [UID] }],
    ['two files', { paths: [FILE, '/etc/shadow'] }],
    ['no file', { paths: [] }],
    ['a node that is an option', { node: '-oProxyCommand=id' }],
  ];
  test.each(rows)('%s: nothing is done by it, whatever is asked', (_, change) => {
    const record = { ...prepared, ...change };
    for (const metadata of [{}, deleted]) {
      for (const job of ['PrepareVolume/DONE', 'UnprepareVolume/1']) {
        expect(
          outcome({
            volume: volume(status('Available', job, ['True', 'x'], { prepared: record }), metadata),
          }),
        ).toEqual([
          'Failed',
          job,
          'False',
          'InternalError',
          expect.stringContaining('status.prepared names'),
        ]);
      }
    }
  });
});

describe('Steady state', () => {
  const rows: Row[] = [
    ['not looked at yet: looks', { volume: volume(available()), pv: pv('Available') }, 'observe'],
    [
      'looked at lately: waits',
      { volume: volume(available()), pv: pv('Available'), lookedAt: NOW - 10_000 },
      { requeueAfter: 20_000 },
    ],
    [
      'present: Available',
      {
        volume: volume(pending('PrepareVolume/DONE', { prepared })),
        pv: pv('Available'),
        observation: { known: readyNode },
      },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''],
    ],
    [
      'present, and told so: nothing is written',
      { volume: volume(available()), pv: pv('Available'), observation: { known: readyNode } },
      { requeueAfter: 30_000 },
    ],
    [
      'the device went away: names a job',
      { volume: volume(available()), pv: pv('Bound'), observation: { known: madeNode } },
      ['Available', 'AttachVolume/1', 'Unknown', 'Attaching', ''],
    ],
    [
      'and submits it',
      {
        volume: volume(status('Available', 'AttachVolume/1', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
        job: { known: { state: 'not-found' } },
        observation: { known: madeNode },
      },
      ['submit', 2, 0],
    ],
    [
      'attached under another number: deviceName follows',
      {
        volume: volume(status('Available', 'AttachVolume/1', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
        job: { known: { state: 'succeeded' } },
        observation: {
          known: { ...madeNode, loops: [{ ...loop, name: 'loop9', number: 9, device: '7:9' }], link: '7:9' },
        },
        forgotten: true,
      },
      ['Available', 'AttachVolume/DONE', 'True', 'Available', ''],
    ],
    [
      'the file is gone: Ready=False, nothing is made',
      { volume: volume(available()), pv: pv('Bound'), observation: { known: { ...freshNode } } },
      ['Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError', expect.stringContaining('is missing')],
    ],
    [
      'what was unavailable is back, and must be attached: goes on though its phase is Failed',
      {
        volume: volume(status('Failed', 'AttachVolume/1', ['Unknown', 'Attaching'], { prepared })),
        pv: pv('Bound'),
      },
      'poll',
    ],
    [
      'what was unavailable, and its node went away: is looked at again',
      {
        volume: volume(
          status('Failed', 'PrepareVolume/DONE', ['Unknown', 'NodeUnreachable', 'away'], { prepared }),
        ),
        pv: pv('Bound'),
      },
      'observe',
    ],
    [
      'what was unavailable is back',
      {
        volume: volume(
          status('Failed', 'PrepareVolume/DONE', ['False', 'UnavailableError', 'gone'], {
            prepared,
          }),
        ),
        pv: pv('Bound'),
        observation: { known: readyNode },
      },
      ['Available', 'PrepareVolume/DONE', 'True', 'Available', ''],
    ],
    [
      'node away: the phase stays',
      { volume: volume(available()), pv: pv('Bound'), observation: away },
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'the PersistentVolume is unhealthy',
      { volume: volume(available()), pv: pv('Failed') },
      ['Failed', 'PrepareVolume/DONE', 'False', 'UnavailableError', expect.stringContaining('Failed')],
    ],
    [
      'the PersistentVolume alone is deleted: is said',
      { volume: volume(available()), pv: pv('Available', deleted), observation: { known: readyNode } },
      [
        'Available',
        'PrepareVolume/DONE',
        'True',
        'Available',
        expect.stringContaining('marked for deletion'),
      ],
    ],
    [
      'the PersistentVolume alone is deleted: stays Available',
      { volume: volume(available()), pv: pv('Available', deleted), lookedAt: NOW },
      { requeueAfter: 30_000 },
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});

describe('Volume Finalization', () => {
  const rows: Row[] = [
    [
      'nothing of ours holds it: nothing to do',
      { volume: volume(undefined, { ...deleted, finalizers: [] }) },
      {},
    ],
    [
      'never had a job: released',
      { volume: volume(status('Failed', undefined, ['False', 'CreationError']), deleted) },
      'release-volume',
    ],
    [
      'an empty status may have been lost: looks at the node',
      { volume: volume(undefined, deleted) },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'the finalizer was taken off a Volume that has storage: put back while it lives',
      { volume: volume(available(), { finalizers: [] }), pv: pv('Bound') },
      'add-finalizer',
    ],
    [
      'another job of it still runs on the node: waits and says so',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'succeeded' } },
        observation: { known: freshNode },
        forgotten: false,
      },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'NodeUnclear', expect.stringContaining('another job')],
    ],
    [
      'never was valid: released all the same',
      {
        volume: {
          ...volume(status('Failed', undefined, ['False', 'InternalError']), deleted),
          spec: { nodeName: '$(reboot)', storageClassName: '' },
        },
      },
      'release-volume',
    ],
    ['Pending: asks for the job', { volume: volume(pending('PrepareVolume/1'), deleted) }, 'poll'],
    [
      'Pending, and the job runs: waits for its end',
      { volume: volume(pending('PrepareVolume/1'), deleted), job: { known: { state: 'running' } } },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Terminating', 'waits for the end of PrepareVolume/1'],
    ],
    [
      'Pending, and the job ended: reclaims',
      { volume: volume(pending('PrepareVolume/1'), deleted), job: { known: { state: 'succeeded' } } },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'backed by a PersistentVolume: deletes it',
      { volume: volume(available(), deleted), pv: pv('Available') },
      'delete-pv',
    ],
    [
      'PersistentVolume in use: waits and says why',
      {
        volume: volume(available(), deleted),
        pv: {
          ...pv('Bound', deleted),
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: [],
            claimRef: { namespace: 'ns', name: 'claim' },
          },
        },
      },
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'Terminating',
        'the PersistentVolume is still in use: it is bound to the claim ns/claim',
      ],
    ],
    [
      'PersistentVolume held by a foreign finalizer: waits and says whose',
      {
        volume: volume(available(), deleted),
        pv: pv('Released', {
          ...deleted,
          finalizers: ['x/y', 'storage.metalk8s.scality.com/volume-protection'],
        }),
      },
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'Terminating', expect.stringContaining('x/y')],
    ],
    ...(['Available', 'Released', 'Failed'] as const).map(
      (phase): Row => [
        `PersistentVolume unused (${phase}): reclaims`,
        { volume: volume(available(), deleted), pv: pv(phase, deleted) },
        ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
      ],
    ),
    [
      "someone else's PersistentVolume of the name: is left alone",
      { volume: volume(available(), deleted), pv: pv('Bound', { ownerReferences: [] }) },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'a PersistentVolume that turns up late is waited for, too',
      { volume: volume(terminating('UnprepareVolume/1'), deleted), pv: pv('Bound', deleted) },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', expect.stringContaining('still in use')],
    ],
    [
      'a spec that became invalid while it was made: waits for the job, and leaks nothing',
      {
        volume: {
          ...volume(pending('PrepareVolume/1'), deleted),
          spec: { ...volume().spec, overwrite: 'ext4' },
        },
        job: { known: { state: 'died' } },
      },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'class gone: reclaims',
      { volume: volume(available(), deleted), storageClass: undefined },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'job not found: looks, then submits',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'not-found' } },
        observation: { known: readyNode },
      },
      ['submit', 5, 0],
    ],
    [
      'mounted: refused, and tried again',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'not-found' } },
        observation: { known: { ...readyNode, mounts: new Map([['7:3', ['/mnt']]]) } },
      },
      [
        'Terminating',
        'UnprepareVolume/1',
        'Unknown',
        'Terminating',
        '/dev/loop3 is in use: mounted at /mnt. It is detached once nothing uses it any more.',
      ],
    ],
    [
      'job failed: Failed, and another attempt',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'failed', step, exit: 5, output: 'I/O error' } },
      },
      ['Failed', 'UnprepareVolume/2', 'False', 'DestructionError', expect.stringContaining('I/O error')],
    ],
    [
      'job died: another attempt, however often',
      { volume: volume(terminating('UnprepareVolume/20'), deleted), job: { known: { state: 'died' } } },
      ['Terminating', 'UnprepareVolume/21', 'Unknown', 'Terminating', expect.stringContaining('attempt 20')],
    ],
    [
      'nothing left: cleans up its jobs',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'succeeded' } },
        observation: { known: freshNode },
      },
      'forget-jobs',
    ],
    [
      'then is done',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'succeeded' } },
        observation: { known: freshNode },
        forgotten: true,
      },
      ['Terminating', 'UnprepareVolume/DONE', 'Unknown', 'Terminating', ''],
    ],
    [
      'DONE: releases the PersistentVolume',
      { volume: volume(terminating('UnprepareVolume/DONE'), deleted), pv: pv('Released', deleted) },
      'release-pv',
    ],
    [
      'then the Volume, whatever else holds the PersistentVolume by then',
      {
        volume: volume(terminating('UnprepareVolume/DONE'), deleted),
        pv: pv('Released', { ...deleted, finalizers: [] }),
      },
      'release-volume',
    ],
    [
      'node away: the phase stays',
      { volume: volume(terminating('UnprepareVolume/1'), deleted), job: away },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});
