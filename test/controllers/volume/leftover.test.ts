import { describe, expect, test } from '@jest/globals';
import type { Leftover } from '../../../src/api/leftover.ts';
import type { Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { decideLeftover } from '../../../src/controllers/volume/decide-leftover.ts';
import { leftoverOf, volumeOf } from '../../../src/controllers/volume/leftover.ts';
import type { Input } from '../../../src/controllers/volume/types.ts';
import { desiredOf } from '../../../src/model/desired-volume.ts';
import {
  at,
  available,
  away,
  deleted,
  given,
  outcome,
  pending,
  prepared,
  removing,
  status,
  step,
  summary,
  terminating,
  unavailable,
} from '../../support/decisions.ts';
import {
  FILE,
  freshNode,
  input,
  NOW,
  pv,
  readyNode,
  UID,
  volume,
} from '../../support/volume-input.ts';

const mark = { 'stowage.dev/forget-node': UID };
const forgotten = { ...deleted, annotations: mark };
const forgetting = (status: VolumeStatus | undefined, parts?: Parameters<typeof given>[1]) =>
  given(status, { metadata: forgotten, ...parts });

test('a Leftover of a shared directory stays marked as shared', () => {
  const whole = volume(available());
  const attachableNodes = ['n1', 'n2'];
  const shared: Volume = {
    ...whole,
    spec: { ...whole.spec, attachPolicy: 'OnDemand', attachableNodes },
  };
  expect(desiredOf(volumeOf(leftoverOf(shared)), undefined, 'n1')).toMatchObject({ shared: true });
});

describe('a Volume whose node is forgotten', () => {
  const kept = { as: UID };
  test.each<[string, Partial<Input>, unknown]>([
    [
      'deletes its PersistentVolume first',
      forgetting(available(), { pv: pv('Available') }),
      'delete-pv',
    ],
    [
      'waits while its PersistentVolume is in use',
      forgetting(available(), { pv: pv('Bound', deleted) }),
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'Terminating',
        expect.stringContaining('still in use'),
      ],
    ],
    [
      'creates a Leftover before anything is released',
      forgetting(available(), { pv: pv('Released', deleted) }),
      'keep-leftover',
    ],
    [
      'then releases its PersistentVolume',
      forgetting(available(), { pv: pv('Released', deleted), kept }),
      'release-pv',
    ],
    ['is released last', forgetting(available(), { kept }), 'release-volume'],
    ['does not poll a provisioning job', forgetting(pending('PrepareVolume/3')), 'keep-leftover'],
    ['does not poll a removal job', forgetting(terminating('UnprepareVolume/2')), 'keep-leftover'],
    ['creates a Leftover if its status was lost', forgetting(undefined), 'keep-leftover'],
    [
      'leaves nothing if its spec has no volume type',
      {
        volume: {
          ...volume(status('Failed', undefined, ['False', 'InternalError']), forgotten),
          spec: { nodeName: 'n1', storageClassName: 'local' },
        },
      },
      'release-volume',
    ],
    [
      'leaves nothing after its removal',
      forgetting(terminating('UnprepareVolume/DONE')),
      'release-volume',
    ],
    [
      'is not released if the Leftover cannot be created',
      forgetting(available(), { kept: { problem: 'forbidden' } }),
      [
        'Available',
        'PrepareVolume/DONE',
        'Unknown',
        'Terminating',
        'cannot create a Leftover for its storage on the node: forbidden',
      ],
    ],
    [
      'ignores an annotation copied from another Volume',
      given(pending('PrepareVolume/1'), {
        metadata: { ...deleted, annotations: { 'stowage.dev/forget-node': 'other' } },
      }),
      'poll',
    ],
    [
      'ignores the annotation while it is not deleted',
      given(available(), { metadata: { annotations: mark }, pv: pv('Bound') }),
      'observe',
    ],
    [
      'creates no Leftover from an invalid record',
      given(
        status('Available', 'PrepareVolume/DONE', ['True', 'x'], {
          prepared: { ...prepared, paths: ['/etc/shadow'] },
        }),
        { metadata: forgotten },
      ),
      unavailable(/status\.prepared names/),
    ],
  ])('%s', (_, parts, expected) => {
    expect(outcome(parts)).toEqual(expected);
  });
});

describe('a Leftover', () => {
  test('contains only what its removal needs', () => {
    const made = volume(available('AttachVolume/DONE'), { annotations: mark });
    made.spec.overwrite = 'ext4';
    made.spec.onDelete = 'Delete';
    expect(leftoverOf(made)).toEqual({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Leftover',
      metadata: { name: UID },
      spec: {
        volumeName: 'data1',
        uid: UID,
        nodeName: 'n1',
        storageClassName: 'local',
        sparseLoopDevice: { size: '1Gi' },
        onDelete: 'Delete',
        prepared,
        job: 'AttachVolume/DONE',
        attempt: 1,
      },
    });
  });

  test('names the node that the Volume was made on', () => {
    const moved = volume({ ...available(), prepared: { ...prepared, node: 'n2' } });
    expect(leftoverOf(moved).spec.nodeName).toBe('n2');
  });

  test('is converted back to its Volume, with the job', () => {
    expect(volumeOf(stored(terminating('UnprepareVolume/4')))).toMatchObject({
      metadata: { name: UID, uid: UID, deletionTimestamp: at },
      spec: { nodeName: 'n1', sparseLoopDevice: { size: '1Gi' } },
      status: { job: 'UnprepareVolume/4', attempt: 4 },
    });
  });

  test('keeps the directory in which the Volume was provisioned', () => {
    const moved = { ...available(), prepared: { ...prepared, paths: [`/srv/disks/${UID}`] } };
    expect(volumeOf(stored(moved)).spec.sparseLoopDevice).toEqual({
      size: '1Gi',
      directory: '/srv/disks',
    });
  });
});

/** Returns a Leftover of a Volume with that status, as stored by the API server. */
function stored(of: VolumeStatus | undefined, own?: VolumeStatus, spec: object = {}): Leftover {
  const leftover = leftoverOf(volume(of));
  return {
    ...leftover,
    metadata: {
      ...leftover.metadata,
      uid: 'own-uid',
      resourceVersion: '9',
      generation: 1,
      creationTimestamp: at,
    },
    spec: { ...leftover.spec, ...spec },
    ...(own === undefined ? {} : { status: own }),
  };
}

function decided(leftover: Leftover, parts: Partial<Input> = {}, owner?: Volume): unknown {
  return summary(
    decideLeftover(leftover, owner, input({ ...parts, volume: volumeOf(leftover) }), NOW),
  );
}

describe('the removal of a Leftover', () => {
  const begun = stored(
    available(),
    status('Terminating', 'UnprepareVolume/1', ['Unknown', 'Terminating']),
  );
  const beginning = removing(1);
  test.each<[string, Leftover, Partial<Input>, unknown]>([
    ['begins for an idle Volume', stored(available()), {}, beginning],
    ['begins if the status was lost', stored(undefined), {}, beginning],
    ['polls a provisioning job that may still run', stored(pending('PrepareVolume/3')), {}, 'poll'],
    [
      'waits for a running provisioning job',
      stored(pending('PrepareVolume/3')),
      { job: { known: { state: 'running' } } },
      [
        undefined,
        'PrepareVolume/3',
        'Unknown',
        'Terminating',
        'waiting for the job PrepareVolume/3 to end',
      ],
    ],
    [
      'begins once the provisioning job ended',
      stored(pending('PrepareVolume/3')),
      { job: { known: { state: 'succeeded' } } },
      beginning,
    ],
    [
      'polls a running removal, and does not begin again',
      stored(terminating('UnprepareVolume/4')),
      {},
      'poll',
    ],
    [
      'prefers its own status to that of the Volume',
      stored(available(), status('Terminating', 'UnprepareVolume/2', ['Unknown', 'Terminating'])),
      {},
      'poll',
    ],
    [
      'reports a node that does not answer, and retries',
      begun,
      { job: away },
      ['Terminating', 'UnprepareVolume/1', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'submits a job when the node is back',
      begun,
      { job: { known: { state: 'not-found' } }, observation: { known: readyNode } },
      ['submit', 5, 0],
    ],
    [
      'leaves storage of which the node has no record',
      begun,
      {
        job: { known: { state: 'not-found' } },
        observation: {
          known: { ...readyNode, intent: undefined, done: undefined, recordFiles: false },
        },
      },
      'forget-jobs',
    ],
    [
      'retries a failed step, with phase Failed',
      begun,
      { job: { known: { state: 'failed', step, exit: 5, output: 'I/O error' } } },
      [
        'Failed',
        'UnprepareVolume/2',
        'False',
        'DestructionError',
        expect.stringContaining('I/O error'),
      ],
    ],
    [
      'cleans up its jobs when nothing is left',
      begun,
      { job: { known: { state: 'succeeded' } }, observation: { known: freshNode } },
      'forget-jobs',
    ],
    [
      'is DONE after the cleanup',
      begun,
      {
        job: { known: { state: 'succeeded' } },
        observation: { known: freshNode },
        forgotten: true,
      },
      removing('DONE'),
    ],
    [
      'is released when DONE',
      stored(
        available(),
        status('Terminating', 'UnprepareVolume/DONE', ['Unknown', 'Terminating']),
      ),
      {},
      'release-volume',
    ],
    [
      'does not begin in a pause, and reports that',
      stored(available()),
      { paused: { kind: 'Node', name: 'n1' } },
      [undefined, 'PrepareVolume/DONE', undefined, undefined, undefined],
    ],
  ])('%s', (_, leftover, parts, expected) => {
    expect(decided(leftover, parts)).toEqual(expected);
  });

  test('waits until its Volume is deleted', () => {
    expect(decided(stored(available()), {}, volume(available(), forgotten))).toEqual([
      'Terminating',
      'PrepareVolume/DONE',
      'Unknown',
      'Terminating',
      'waiting for Volume data1 to be deleted',
    ]);
  });
});

describe('a Leftover that Stowage never wrote', () => {
  const other = '00000000-0000-4000-8000-000000000000';
  const record = (change: object) => ({ prepared: { ...prepared, ...change } });
  test.each<[string, object, string]>([
    ['another UID than its name', { uid: other }, 'its name must be spec.uid'],
    ['another node than the record', { nodeName: 'n2' }, 'spec.nodeName is "n2"'],
    [
      'a node that is an option',
      { nodeName: '-oProxyCommand=id', prepared: undefined },
      'spec.nodeName is',
    ],
    ['another file', record({ paths: ['/etc/shadow'] }), 'status.prepared names'],
    [
      'the file of another Volume',
      record({ paths: [FILE.replace(UID, other)] }),
      'status.prepared names',
    ],
    [
      'a path that leads elsewhere',
      record({ paths: [`/srv/../etc/${UID}`] }),
      'status.prepared names',
    ],
    ['two files', record({ paths: [FILE, '/etc/shadow'] }), 'status.prepared names'],
    [
      'a directory that leads elsewhere',
      { prepared: undefined, sparseLoopDevice: { size: '1Gi', directory: '/srv/../etc' } },
      'spec.sparseLoopDevice.directory is',
    ],
    ['no type', { sparseLoopDevice: undefined }, 'volume type not found'],
  ])('fails without an action: %s', (_, spec, why) => {
    for (const own of [
      undefined,
      status('Terminating', 'UnprepareVolume/1', ['Unknown', 'Terminating']),
    ]) {
      expect(decided(stored(available(), own, spec))).toEqual([
        'Failed',
        own?.job ?? 'PrepareVolume/DONE',
        'False',
        'InternalError',
        expect.stringContaining(why),
      ]);
    }
  });

  test('fails for a UID that is not a valid file name', () => {
    const leftover = stored(available(), undefined, { uid: '../x', prepared: undefined });
    leftover.metadata.name = '../x';
    expect(decided(leftover)).toContain('InternalError');
  });

  test.each<[string, Partial<Volume['metadata']>]>([
    ['without the annotation', {}],
    ['with the annotation, but not deleted', { annotations: mark }],
    ['being deleted without the annotation', deleted],
  ])('fails if it names the storage of a Volume %s', (_, metadata) => {
    const expected = [
      'InternalError',
      expect.stringContaining('Volume data1 with this UID exists'),
    ];
    const got = decided(stored(available()), {}, volume(available(), metadata)) as unknown[];
    expect(got.slice(3)).toEqual(expected);
  });
});
