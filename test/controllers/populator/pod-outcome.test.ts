import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import { eventKey } from '../../../src/controllers/lib/event-key.ts';
import { decide } from '../../../src/controllers/populator/decide.ts';
import type {
  PopulatorDecision,
  PopulatorInput,
} from '../../../src/controllers/populator/types.ts';
import { annotated, claim, found, input, NOW, OWN, pod, prime, pv, UID } from './input.ts';

/** Results of pods that are deleted, or that do not start. */

const DELETED = { metadata: { deletionTimestamp: '2026-11-22T11:59:00Z' } };
const ORIGIN = 'definition-uid/1 source-uid/1';
const attempts = (failed: number, more: object = {}) =>
  annotated(prime(), {
    'stowage.dev/populate-attempts': JSON.stringify({
      ...{ failed, pod: 'pod-uid', message: 'x', at: NOW - 1000, of: ORIGIN },
      ...more,
    }),
  });
const short = ({ action, requeueAfter }: PopulatorDecision): string => {
  if (action === undefined) return requeueAfter === undefined ? 'rest' : `rest ${requeueAfter}`;
  if (action.do === 'emit-event') return `emit ${action.event.reason}: ${action.event.message}`;
  if (action.do === 'note-attempts')
    return `note ${action.attempts.failed}: ${action.event.message}`;
  return action.do;
};
const decided = (change: Partial<PopulatorInput>) =>
  short(decide(input({ prime: prime(), pv: pv(), source: found, ...change }), NOW));

/** Returns a pending pod that was created `seconds` before now. */
const pending = (seconds: number, status: object = {}, annotations: object = {}) =>
  pod('Pending', {
    metadata: {
      creationTimestamp: new Date(NOW - seconds * 1000).toISOString(),
      annotations: {
        'stowage.dev/populates': 'default/data',
        'stowage.dev/populate-origin': ORIGIN,
        ...annotations,
      },
    },
    spec: { nodeName: 'n1' },
    status,
  });
const waiting = (reason: string, message?: string) => ({
  containerStatuses: [{ name: 'populate', state: { waiting: { reason, message } } }],
});
const CREATING = waiting('ContainerCreating');
const NO_IMAGE = waiting('ImagePullBackOff', 'Back-off pulling image "x"');
const NO_NODE = {
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available',
    },
  ],
};
const NAME = `${OWN}/populate-${UID}`;

describe('a pod that is deleted or evicted', () => {
  const evicted = {
    conditions: [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      },
    ],
  };
  test.each<[string, Partial<PopulatorInput>, string]>([
    // A program that exits with 0 on termination has not completed.
    [
      'has not completed, even with exit status 0',
      { pod: pod('Succeeded', DELETED) },
      `note 1: pod ${NAME} failed (attempt 1 of 4): it was deleted`,
    ],
    [
      'has not completed, even without its definition',
      { pod: pod('Succeeded', DELETED), definitions: [] },
      'emit PopulatorCreationError: the PopulatorDefinition',
    ],
    [
      'is counted while it terminates, with the cause',
      {
        pod: pod('Running', {
          ...DELETED,
          spec: { nodeName: 'n1' },
          status: { phase: 'Running', ...evicted },
        }),
      },
      `note 1: pod ${NAME} failed (attempt 1 of 4): it was deleted on node n1 before it ended (EvictionByEvictionAPI: Eviction API: evicting). Stowage retries`,
    ],
    ['is awaited once counted', { prime: attempts(1), pod: pod('Running', DELETED) }, 'rest'],
    ['is followed by another after a delay', { prime: attempts(1) }, 'rest 9000'],
    [
      'is counted if it vanished at once',
      { vanished: 'pod-uid' },
      `note 1: pod ${NAME} failed (attempt 1 of 4): it was deleted before it ended. Stowage retries`,
    ],
    [
      'is followed by another at once, if the clock was set back meanwhile',
      { prime: attempts(1, { at: NOW + 7_200_000 }) },
      'create-pod',
    ],
    ['is counted only once', { prime: attempts(1), vanished: 'pod-uid' }, 'rest 9000'],
    [
      'is not retried after the last attempt',
      { prime: attempts(3, { pod: 'earlier' }), pod: pod('Running', DELETED) },
      `note 4: pod ${NAME} failed (attempt 4 of 4): it was deleted before it ended. Stowage does not retry`,
    ],
    [
      'is reported with the reason of the kubelet',
      {
        pod: pod('Failed', {
          status: {
            phase: 'Failed',
            reason: 'Evicted',
            message: 'The node was low on resource:\n memory',
            containerStatuses: [{ name: 'populate', state: { terminated: { exitCode: 137 } } }],
          },
        }),
      },
      `note 1: pod ${NAME} failed (attempt 1 of 4): Evicted: The node was low on resource: memory: exit status 137. Stowage retries`,
    ],
    [
      'is reported without a second full stop',
      {
        pod: pod('Failed', {
          status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource.' },
        }),
      },
      `note 1: pod ${NAME} failed (attempt 1 of 4): Evicted: The node was low on resource. Stowage retries`,
    ],
  ])('%s', (_, change, start) => {
    expect(decided(change).slice(0, start.length)).toBe(start);
  });
});

describe('a pod that does not start', () => {
  const told = (
    code: 'ImageRefused' | 'PodUnscheduled',
    about = 'pod-uid',
  ): Pick<PopulatorInput, 'lastEvent'> => {
    const event = {
      type: 'Warning',
      reason: 'PopulatorCreationError',
      message: '',
      about,
    } as const;
    return {
      lastEvent: { ...event, key: eventKey({ ...event, detail: reason(code, { pod: NAME }) }) },
    };
  };
  test.each<[string, Partial<PopulatorInput>, string]>([
    ['is awaited for 30 s', { pod: pending(10, CREATING) }, 'rest 20000'],
    ['has its events read after 30 s', { pod: pending(30, CREATING) }, 'read-pod-events'],
    [
      'is awaited if it has no events',
      { pod: pending(30, CREATING), podWarning: { found: undefined } },
      'rest 30000',
    ],
    [
      'is reported with a failed mount',
      {
        pod: pending(30, CREATING),
        podWarning: {
          found: { code: 'PodNotStarted', state: 'FailedMount', message: 'no Secret x' },
        },
      },
      `emit PopulatorCreationError: pod ${NAME} does not run: FailedMount: no Secret x`,
    ],
    [
      'is reported with a missing image',
      { pod: pending(5, NO_IMAGE) },
      `emit PopulatorCreationError: pod ${NAME} does not run: ImagePullBackOff: Back-off pulling image "x"`,
    ],
    ['is reported once', { pod: pending(5, NO_IMAGE), ...told('ImageRefused') }, 'rest 595000'],
    [
      'is reported once, despite another message',
      { pod: pending(5, waiting('ErrImagePull', 'y')), ...told('ImageRefused') },
      'rest 595000',
    ],
    [
      'is reported again for another pod',
      { pod: pending(5, NO_IMAGE), ...told('ImageRefused', 'other') },
      'emit',
    ],
    [
      'counts as failed after 10 minutes',
      { pod: pending(600, NO_IMAGE), ...told('ImageRefused') },
      `note 1: pod ${NAME} failed (attempt 1 of 4): it did not start within 10 minutes: ImagePullBackOff: Back-off pulling image "x". Stowage retries`,
    ],
    [
      'has the age that this process observed, if the clock was set forward',
      { pod: pending(86_400, NO_IMAGE), podSeenAt: NOW - 5000, ...told('ImageRefused') },
      'rest 595000',
    ],
    [
      'counts as failed after 10 minutes, if the clock was set back',
      {
        pod: pending(-7200, NO_IMAGE),
        podSeenAt: NOW - 600_000,
        ...told('ImageRefused'),
      },
      `note 1: pod ${NAME} failed (attempt 1 of 4): it did not start within 10 minutes: ImagePullBackOff: Back-off pulling image "x". Stowage retries`,
    ],
    ['is deleted once counted', { prime: attempts(1), pod: pending(600, NO_IMAGE) }, 'delete-pod'],
    ['is deleted after a change', { prime: attempts(0), pod: pending(5, NO_IMAGE) }, 'delete-pod'],
    [
      'is recorded if its source changed',
      {
        pod: pending(5, NO_IMAGE, {
          'stowage.dev/populate-origin': 'definition-uid/0 source-uid/1',
        }),
      },
      `note 0: pod ${NAME} has not started, and is created again: its data source, PopulatorDefinition or tolerations changed`,
    ],
    [
      'is recorded if a waiting pod of the claim tolerates more by now',
      { pod: pending(5, NO_NODE), tolerations: [{ key: 'dedicated', operator: 'Exists' }] },
      `note 0: pod ${NAME} has not started, and is created again: its data source, PopulatorDefinition or tolerations changed`,
    ],
    [
      // Otherwise changing tolerations would permit any number of pods that fail.
      'keeps the count of failed pods if only its tolerations changed',
      {
        prime: attempts(3, { pod: 'earlier' }),
        pod: pending(5, NO_NODE),
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      },
      `note 3: pod ${NAME} has not started, and is created again`,
    ],
    [
      'keeps its tolerations once it has a node',
      {
        pod: pending(5, NO_IMAGE),
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        ...told('ImageRefused'),
      },
      'rest 595000',
    ],
    ['is created again without a delay', { prime: attempts(0) }, 'create-pod'],
    [
      'is reported if it is unschedulable',
      { pod: pending(5, NO_NODE) },
      `emit PopulatorCreationError: pod ${NAME} does not run: 0/1 nodes are available`,
    ],
    [
      'waits for a node without a timeout',
      { pod: pending(86_400, NO_NODE), ...told('PodUnscheduled') },
      'rest',
    ],
    ['is left alone once it runs', { pod: pod('Running') }, 'rest'],
    [
      'is reported as running after a failure',
      { pod: pod('Running'), ...told('ImageRefused') },
      `emit PopulatorCreated: pod ${NAME} runs`,
    ],
    [
      'is deleted with its claim',
      { claim: claim({ metadata: DELETED.metadata }), pod: pending(5, NO_IMAGE) },
      'delete-pod',
    ],
  ])('%s', (_, change, start) => {
    expect(decided(change).slice(0, start.length)).toBe(start);
  });
});
