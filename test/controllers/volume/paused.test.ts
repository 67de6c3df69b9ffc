import { describe, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import type { Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { decide } from '../../../src/controllers/volume/decide.ts';
import { pausedBy } from '../../../src/controllers/volume/paused.ts';
import type { Input } from '../../../src/controllers/volume/types.ts';
import type { PausedObject } from '../../../src/model/pause.ts';
import {
  at,
  available,
  away,
  creationFailed,
  deleted,
  deleting,
  given,
  notAttached,
  outcome,
  pending,
  prepared,
  removing,
  status,
  step,
  stepRuns,
  terminating,
  unavailable,
} from '../../support/decisions.ts';
import {
  freshNode,
  input,
  madeNode,
  NOW,
  pv,
  readyNode,
  volume,
} from '../../support/volume-input.ts';

const DATA1 = { kind: 'Volume', name: 'data1' };
const NODE_N1 = { kind: 'Node', name: 'n1' };
const BY_NODE = 'Node n1 is paused. To resume it: stowage resume node n1';
const BY_NODE_IN_DELETION =
  'Node n1 is paused, and the deletion waits. To resume it: stowage resume node n1';

const told = (before: VolumeStatus | undefined, message = BY_NODE): VolumeStatus => ({
  ...before,
  conditions: [
    ...(before?.conditions ?? []),
    {
      type: 'Paused',
      status: 'True',
      reason: 'Paused',
      message,
      lastUpdateTime: at,
      lastTransitionTime: at,
    },
  ],
});
const toldOfDeletion = (before?: VolumeStatus) => told(before, BY_NODE_IN_DELETION);
const paused = (parts: Partial<Input>) => outcome({ ...parts, paused: NODE_N1 });

describe('pausedBy', () => {
  const annotated = (value?: string) =>
    volume(undefined, value === undefined ? {} : { annotations: { 'stowage.dev/paused': value } });
  const node = (value?: string): KubeNode => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      ...(value === undefined ? {} : { annotations: { 'stowage.dev/paused': value } }),
    },
  });

  test.each<[string, Volume, KubeNode | undefined, PausedObject | undefined]>([
    ['none', annotated(), node(), undefined],
    ['no Node object', annotated(), undefined, undefined],
    ['true on the Volume', annotated('true'), node(), DATA1],
    ['true on the Node', annotated(), node('true'), NODE_N1],
    ['an empty value', annotated(''), node(), DATA1],
    ['a reason', annotated(), node('disk swap, see OPS-7'), NODE_N1],
    ['false', annotated('false'), node('false'), undefined],
    ['false on the Volume only', annotated('false'), node('true'), NODE_N1],
  ])('returns the paused object, if any: %s', (_, object, kubeNode, by) => {
    expect(pausedBy(object, kubeNode)).toEqual(by);
  });
});

describe('the condition Paused', () => {
  const write = (parts: Partial<Input>) => {
    const { action } = decide(input(parts), NOW);
    if (action?.do !== 'set-status') throw new Error(`not a status: ${JSON.stringify(action)}`);
    return action;
  };

  test('is written first, without any other change to the status', () => {
    const before = status('Failed', 'PrepareVolume/1', ['False', 'CreationError', 'why']);
    const action = write(given(before, { metadata: { generation: 2 }, paused: NODE_N1 }));
    expect(action).toEqual({ do: 'set-status', status: told(before) });
  });

  test('reports that a deletion waits', () => {
    const action = write(deleting(told(available()), { paused: NODE_N1 }));
    expect(action.status).toEqual({
      ...toldOfDeletion(available()),
      conditions: [
        available().conditions?.[0],
        expect.objectContaining({ message: BY_NODE_IN_DELETION }),
      ],
    });
  });

  test('becomes False without the annotation, and the work continues', () => {
    const later = Date.parse(at) + 5000;
    const { action } = decide(input(given(told(pending('PrepareVolume/1')))), later);
    const since = new Date(later).toISOString();
    expect(action).toMatchObject({
      do: 'set-status',
      status: {
        job: 'PrepareVolume/1',
        conditions: [
          { type: 'Ready', status: 'Unknown' },
          {
            type: 'Paused',
            status: 'False',
            reason: 'Resumed',
            message: '',
            lastTransitionTime: since,
          },
        ],
      },
    });
    if (action?.do !== 'set-status') throw new Error('not a status');
    expect(outcome(given(action.status))).toBe('poll');
  });

  test('is absent if the Volume was never paused', () => {
    expect(write(given(undefined)).status.conditions).toHaveLength(1);
  });
});

describe('nothing is written while paused', () => {
  const later = { requeueAfter: 30_000 };
  const gone = {
    ...deleted,
    annotations: { 'stowage.dev/forget-node': volume().metadata.uid ?? '' },
  };
  test.each<[string, Partial<Input>]>([
    ['no first job is recorded', given(told(undefined))],
    [
      'a recorded job is not submitted',
      given(told(pending('PrepareVolume/1')), { job: 'not-found', node: freshNode }),
    ],
    [
      'a job that failed is not followed by another',
      given(told(pending('PrepareVolume/1')), { job: { state: 'died', step } }),
    ],
    [
      'a job that is done is not removed',
      given(told(pending('PrepareVolume/1')), { job: 'succeeded', node: readyNode }),
    ],
    [
      'no PersistentVolume is created',
      given(told(pending('PrepareVolume/DONE', { prepared })), { node: readyNode }),
    ],
    [
      'no PersistentVolume is deleted',
      deleting(toldOfDeletion(available()), { pv: pv('Available') }),
    ],
    [
      'no PersistentVolume is released',
      deleting(toldOfDeletion(terminating('UnprepareVolume/DONE')), {
        pv: pv('Released', deleted),
      }),
    ],
    ['no removal begins', deleting(toldOfDeletion(available()), { pv: pv('Released', deleted) })],
    ['the Volume is not released', deleting(toldOfDeletion(terminating('UnprepareVolume/DONE')))],
    ['a Volume without a job stays', deleting(toldOfDeletion(status('Failed', undefined)))],
    ['its node is not forgotten', given(toldOfDeletion(available()), { metadata: gone })],
    [
      'a new generation is not tried',
      given(told(status('Failed', 'PrepareVolume/1', ['False', 'CreationError'])), {
        metadata: { generation: 2 },
      }),
    ],
  ])('%s', (_, parts) => {
    expect(paused(parts)).toEqual(later);
    const { conditions = [], ...rest } = parts.volume?.status ?? {};
    const resumed = { ...rest, conditions: conditions.filter(({ type }) => type !== 'Paused') };
    // Proves that the pause holds it: without the pause an action follows.
    expect(outcome({ ...parts, volume: volume(resumed, parts.volume?.metadata) })).not.toEqual(
      later,
    );
  });

  test('a lost status does not count as a Volume that never had a job', () => {
    expect(outcome(deleting(told(undefined), { paused: undefined }))).not.toBe('release-volume');
    const { action } = decide(input(deleting(told(undefined))), NOW);
    if (action?.do !== 'set-status') throw new Error('not a status');
    expect(outcome(deleting(action.status))).toEqual(removing(1));
  });
});

describe('work that continues while paused', () => {
  test.each<[string, Partial<Input>, unknown]>([
    [
      'a missing finalizer is added again',
      given(told(available()), { metadata: { finalizers: [] } }),
      'add-finalizer',
    ],
    [
      'a running job is followed to its end',
      given(
        told(status('Pending', 'PrepareVolume/1', ['Unknown', 'Pending', step.name, stepRuns])),
        {
          job: { state: 'running', step },
        },
      ),
      { watch: true },
    ],
    [
      'a failed job is reported',
      given(told(pending('PrepareVolume/1')), {
        job: { state: 'failed', step, exit: 1, output: 'No space left on device' },
      }),
      creationFailed(1, /No space left/),
    ],
    ['the device is observed', given(told(available()), { pv: pv('Bound') }), 'observe'],
    [
      'a lost file is reported',
      given(told(available()), { pv: pv('Bound'), node: freshNode }),
      unavailable(/is missing/),
    ],
    [
      'a missing device is reported, and not attached',
      given(told(available()), { pv: pv('Bound'), node: madeNode }),
      notAttached(
        'the device is not attached on node n1; it is attached once Node n1 is no longer paused',
      ),
    ],
    [
      'a missing device is reported, even if attachment is disabled',
      given(told(available()), { pv: pv('Bound'), node: madeNode, attachmentEnabled: false }),
      notAttached(
        'the device is not attached on node n1; it is attached once Node n1 is no longer paused',
      ),
    ],
    [
      'a node that does not answer is reported',
      given(told(available()), { pv: pv('Bound'), node: away }),
      ['Available', 'PrepareVolume/DONE', 'Unknown', 'NodeUnreachable', away.unknown],
    ],
    [
      'an unhealthy PersistentVolume is reported',
      given(told(available()), { pv: pv('Failed') }),
      unavailable(/Failed/),
    ],
    [
      'nothing is written when all is well',
      given(told(available()), { pv: pv('Bound'), node: readyNode }),
      { requeueAfter: 30_000 },
    ],
  ])('%s', (_, parts, expected) => {
    expect(paused(parts)).toEqual(expected);
  });

  test('a Volume that waits for its attachment is observed at once after a resume', () => {
    const waiting = status(
      'Available',
      'PrepareVolume/DONE',
      ['Unknown', 'Attaching', 'still to be done'],
      {
        prepared,
      },
    );
    const parts = given(waiting, { pv: pv('Bound') });
    expect(outcome({ ...parts, observedAt: NOW - 1000 })).toBe('observe');
    expect(outcome({ ...parts, observation: { known: madeNode } })).toEqual(
      notAttached('the device is not attached on node n1; attaching'),
    );
  });
});
