import { describe, expect, test } from '@jest/globals';
import type { Attachment } from '../../../src/api/volume.ts';
import {
  at,
  available,
  away,
  deleted,
  outcome,
  pending,
  prepared,
  type Row,
  status,
  step,
  terminating,
} from '../../support/decisions.ts';
import { freshNode, NOW, pv, readyNode, UID, volume } from '../../support/volume-input.ts';

const attachment = (node: string, message?: string): Attachment => ({
  node,
  state: 'Detaching',
  safeToMount: false,
  safeToDetach: false,
  pods: [],
  since: at,
  ...(message === undefined ? {} : { message }),
});

describe('Volume Finalization', () => {
  const rows: Row[] = [
    [
      'nothing of ours holds it: nothing to do',
      { volume: volume(undefined, { ...deleted, finalizers: [] }) },
      {},
    ],
    [
      'never had a job, by its status, which may be older than the storage: looks at the node',
      { volume: volume(status('Failed', undefined, ['False', 'CreationError']), deleted) },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'made, and its spec asks for what is not supported by now: looks at the node',
      {
        volume: {
          ...volume(status('Failed', undefined, ['False', 'InternalError']), deleted),
          spec: { ...volume().spec, source: {}, overwrite: 'x' },
        },
      },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'names no place, and there is a PersistentVolume of it: looks at the node',
      {
        volume: {
          ...volume(status('Failed', undefined, ['False', 'InternalError']), deleted),
          spec: { nodeName: 'n1', storageClassName: 'local' },
        },
        pv: pv('Available', deleted),
      },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
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
      'validity never blocks deletion: what never was valid is released',
      {
        volume: {
          ...volume(status('Failed', undefined, ['False', 'InternalError']), deleted),
          spec: { nodeName: '$(reboot)', storageClassName: '' },
        },
      },
      'release-volume',
    ],
    [
      'FinalizeVolume: Volume is Pending? YES → asks for its job',
      { volume: volume(pending('PrepareVolume/1'), deleted) },
      'poll',
    ],
    [
      'FinalizeVolume: Volume is Pending? YES → reschedule when the creation has ended',
      { volume: volume(pending('PrepareVolume/1'), deleted), job: { known: { state: 'running' } } },
      ['Pending', 'PrepareVolume/1', 'Unknown', 'Terminating', 'waits for the end of PrepareVolume/1'],
    ],
    [
      'a Volume marked for deletion while Pending completes and then ends',
      { volume: volume(pending('PrepareVolume/1'), deleted), job: { known: { state: 'succeeded' } } },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'FinalizeVolume: backed by PersistentVolume? YES, Terminating? NO → delete it, reschedule now',
      { volume: volume(available(), deleted), pv: pv('Available') },
      'delete-pv',
    ],
    [
      'FinalizeVolume: PersistentVolume is unused? NO → reschedule in 10s, and says why',
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
      'FinalizeVolume: PersistentVolume is unused? NO, a foreign finalizer holds it → says whose',
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
        `FinalizeVolume: PersistentVolume is unused? YES (${phase}) → ReclaimStorage`,
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
      'validity never blocks deletion: a spec that became invalid while it was made leaks nothing',
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
      'a class that is gone does not block deletion',
      { volume: volume(available(), deleted), storageClass: undefined },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'ReclaimStorage: Job ID, job not found → relaunch the job',
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
      'ReclaimStorage: Job ID, job failed → Failed, and another attempt',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'failed', step, exit: 5, output: 'I/O error' } },
      },
      ['Failed', 'UnprepareVolume/2', 'False', 'DestructionError', expect.stringContaining('I/O error')],
    ],
    [
      'ReclaimStorage: Job ID, job died → another attempt, however often',
      { volume: volume(terminating('UnprepareVolume/20'), deleted), job: { known: { state: 'died' } } },
      ['Terminating', 'UnprepareVolume/21', 'Unknown', 'Terminating', expect.stringContaining('attempt 20')],
    ],
    [
      'ReclaimStorage: Job ID, job succeed, nothing left → cleans up its jobs',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'succeeded' } },
        observation: { known: freshNode },
      },
      'forget-jobs',
    ],
    [
      'ReclaimStorage: Job ID, job succeed → Job is "DONE", reschedule now',
      {
        volume: volume(terminating('UnprepareVolume/1'), deleted),
        job: { known: { state: 'succeeded' } },
        observation: { known: freshNode },
        forgotten: true,
      },
      ['Terminating', 'UnprepareVolume/DONE', 'Unknown', 'Terminating', ''],
    ],
    [
      'ReclaimStorage: "DONE" → remove the finalizer on the PersistentVolume',
      { volume: volume(terminating('UnprepareVolume/DONE'), deleted), pv: pv('Released', deleted) },
      'release-pv',
    ],
    [
      'ReclaimStorage: "DONE" → then on the Volume, whatever else holds the PersistentVolume by then',
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
    [
      'FinalizeVolume: backed by PersistentVolume? NO → ReclaimStorage: Job, no value → spawn UnprepareVolume, Terminating',
      { volume: volume(status('Failed', undefined, ['False', 'CreationError'], { prepared }), deleted) },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'is still attached: waits, and says where and why',
      {
        volume: volume(
          {
            ...available(),
            attachments: [
              attachment('n1', 'a pod uses it'),
              attachment('n2'),
              { ...attachment('n3'), pods: ['a/b', 'a/c'] },
            ],
          },
          deleted,
        ),
        pv: pv('Released', deleted),
      },
      [
        'Terminating',
        'PrepareVolume/DONE',
        'Unknown',
        'Terminating',
        'is still attached on n1: a pod uses it; n2; n3: pods need it there: a/b, a/c',
      ],
    ],
    [
      'is still attached, and told so: looks again later',
      {
        volume: volume(
          {
            ...status('Terminating', 'PrepareVolume/DONE', [
              'Unknown',
              'Terminating',
              'is still attached on n1',
            ]),
            attachments: [attachment('n1')],
          },
          deleted,
        ),
      },
      { requeueAfter: 10_000 },
    ],
    [
      'is still attached, and nothing detaches: says so',
      {
        volume: volume({ ...available(), attachments: [attachment('n1')] }, deleted),
        attachmentEnabled: false,
      },
      [
        'Terminating',
        'PrepareVolume/DONE',
        'Unknown',
        'AttachmentDisabled',
        'is still attached on n1, and the controller attachment is switched off: start stowage watch with it',
      ],
    ],
    [
      'is still attached, and its PersistentVolume is there: that goes first',
      {
        volume: volume({ ...available(), attachments: [attachment('n1')] }, deleted),
        pv: pv('Available'),
      },
      'delete-pv',
    ],
    [
      'was attached: is removed',
      { volume: volume({ ...available(), attachments: [] }, deleted), attachmentEnabled: false },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'is still attached on a node that is forgotten: is let go of',
      {
        volume: volume(
          { ...available(), attachments: [attachment('n1')] },
          { ...deleted, annotations: { 'stowage.dev/forget-node': UID } },
        ),
        kept: { as: UID },
      },
      'release-volume',
    ],
    [
      'is gone from its nodes and still told to be attached: is let go of',
      {
        volume: volume({ ...terminating('UnprepareVolume/DONE'), attachments: [attachment('n1')] }, deleted),
      },
      'release-volume',
    ],
    [
      'ReclaimStorage: Job of another kind counts as no value',
      { volume: volume(available('AttachVolume/DONE'), deleted) },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', ''],
    ],
    [
      'ReclaimStorage: Job ID → poll the status of the job',
      { volume: volume(terminating('UnprepareVolume/1'), deleted) },
      'poll',
    ],
    [
      'ReclaimStorage: Job ID, job still in progress → reschedule when it has ended',
      {
        volume: volume(terminating('UnprepareVolume/1', undefined), deleted),
        job: { known: { state: 'running', step } },
      },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'Terminating', step.name],
    ],
    [
      'ReclaimStorage: Job ID, job still in progress, and told so → waits for its end',
      {
        volume: volume(
          status('Terminating', 'UnprepareVolume/1', ['Unknown', 'Terminating', step.name], { prepared }),
          deleted,
        ),
        job: { known: { state: 'running', step } },
      },
      { follow: true },
    ],
    ...(
      [
        [2, 1000],
        [3, 2000],
        [20, 300_000],
      ] as const
    ).map(
      ([attempt, wait]): Row => [
        `a failed Unprepare is retried with backoff: attempt ${attempt} waits ${wait} ms`,
        {
          volume: volume(
            status('Failed', `UnprepareVolume/${attempt}`, ['False', 'DestructionError', 'I/O error'], {
              prepared,
            }),
            deleted,
          ),
          job: { known: { state: 'not-found' } },
          observation: { known: readyNode },
        },
        { requeueAfter: wait - 100 },
        NOW + 100,
      ],
    ),
    [
      'a failed Unprepare is retried with backoff: and submitted after it',
      {
        volume: volume(
          status('Failed', 'UnprepareVolume/2', ['False', 'DestructionError', 'I/O error'], { prepared }),
          deleted,
        ),
        job: { known: { state: 'not-found' } },
        observation: { known: readyNode },
      },
      ['submit', 5, 0],
      NOW + 1000,
    ],
  ];
  test.each(rows)('%s', (...[, parts, expected, now]) => {
    expect(outcome(parts, now)).toEqual(expected);
  });
});
