import { describe, expect, test } from '@jest/globals';
import { eventKey } from '../../../src/controllers/lib/event-key.ts';
import { decide } from '../../../src/controllers/populator/decide.ts';
import type { PopulatorInput } from '../../../src/controllers/populator/types.ts';
import { decided, SELECTED, waiting } from './decisions.ts';
import {
  annotated,
  claim,
  definition,
  found,
  input,
  NOW,
  pod,
  prime,
  pv,
  storageClass,
  UID,
} from './input.ts';

const attempts = (failed: number, more: object = {}) =>
  annotated(prime(), {
    'stowage.dev/populate-attempts': JSON.stringify({
      ...{ failed, pod: 'earlier', message: 'no space', at: NOW - 1000 },
      of: 'definition-uid/1 source-uid/1',
      ...more,
    }),
  });

describe('a claim to be filled', () => {
  const failure = {
    type: 'Warning',
    reason: 'PopulatorDataSourceNotFound',
    message: 'Hello x does not exist',
  } as const;

  test.each<[string, Partial<PopulatorInput>, string]>([
    [
      'a populator of another program',
      { claim: claim({ metadata: { finalizers: [] } }), definitions: [] },
      'rest',
    ],
    [
      'a missing definition',
      { definitions: [] },
      'emit PopulatorCreationError: the PopulatorDefinition for Hello.hello.example.com no longer exists',
    ],
    [
      'one of two definitions',
      { definitions: [definition, { ...definition, metadata: { name: 'second' } }] },
      'emit PopulatorCreationError: more than one PopulatorDefinition is for Hello.hello.example.com: hello, second',
    ],
    [
      'a missing class',
      { storageClass: undefined },
      'emit PopulatorPVCPrimeCreationError: StorageClass fast does not exist',
    ],
    [
      'a class with a provisioner',
      { storageClass: storageClass({ provisioner: 'kubernetes.io/no-provisioner' }) },
      'emit PopulatorPVCPrimeCreationError: StorageClass fast has no provisioner',
    ],
    ['the first pod', { storageClass: waiting }, 'rest'],
    [
      'its source',
      { source: { is: 'waits', event: failure } },
      'emit PopulatorDataSourceNotFound: Hello x does not exist',
    ],
    [
      'its source, reported before',
      {
        source: { is: 'waits', event: failure },
        lastEvent: { reason: failure.reason, key: eventKey(failure) },
      },
      'rest 300000',
    ],
    [
      'a definition for Block',
      { claim: claim({ spec: { volumeMode: 'Block' } }), source: found },
      'emit PopulatorCreationError: Hello example cannot be used by PopulatorDefinition hello: volumes of mode Block need spec.pod.devicePath',
    ],
    [
      'a field that the source lacks',
      { source: { is: 'ready', object: { ...found.object, spec: {} } as never } },
      'emit PopulatorCreationError: Hello example cannot be used by PopulatorDefinition hello: it has no field .spec.fileName',
    ],
    [
      'the volume of its prime claim',
      {
        prime: prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } }),
        primeWarning: { found: { message: 'node n1 has no room' } },
      },
      `emit PopulatorPVCPrimeCreationError: prime claim stowage/prime-${UID} has no volume yet: node n1 has no room`,
    ],
    [
      'other pods to end',
      { prime: prime(), pv: pv(), source: found, running: { all: 16, own: 0 } },
      'emit PopulatorCreated: 16 pods already fill volumes',
    ],
    [
      'other pods of its namespace to end',
      { prime: prime(), pv: pv(), source: found, running: { all: 8, own: 8 } },
      'emit PopulatorCreated: 8 pods already fill volumes of this namespace',
    ],
    [
      'an image',
      {
        prime: prime(),
        pv: pv(),
        source: found,
        pod: pod('Pending', {
          status: {
            phase: 'Pending',
            containerStatuses: [
              {
                name: 'populate',
                state: { waiting: { reason: 'ErrImagePull', message: 'no such' } },
              },
            ],
          },
        }),
      },
      `emit PopulatorCreationError: pod stowage/populate-${UID} does not run: ErrImagePull: no such`,
    ],
    [
      'the deletion of a foreign claim',
      { prime: prime({ metadata: { annotations: {} } }) },
      'emit PopulatorPVCPrimeCreationError: PersistentVolumeClaim stowage/',
    ],
    [
      'the deletion of a foreign pod',
      { pod: pod('Running', { metadata: { annotations: {} } }) },
      'emit PopulatorPVCPrimeCreationError: Pod stowage/',
    ],
  ])('waits for %s', (_, change, start) => {
    expect(decided(change).slice(0, start.length)).toBe(start);
  });
});

describe('a selected node that is returned to the scheduler', () => {
  const unbound = prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } });
  const on = (node?: string) =>
    claim({ metadata: { annotations: node === undefined ? {} : { [SELECTED]: node } } });

  test.each<[string, Partial<PopulatorInput>, string]>([
    ['is removed from the claim', { claim: on('n1'), prime: unbound }, 'give-back'],
    ['requires a new prime claim', { claim: on(), prime: unbound }, 'delete-prime'],
    [
      'requires a new prime claim if another node is selected',
      { claim: on('n2'), prime: annotated(unbound, { [SELECTED]: 'n1' }) },
      'delete-prime',
    ],
    [
      'keeps the prime claim if the same node is selected',
      { claim: on('n1'), prime: annotated(unbound, { [SELECTED]: 'n1' }) },
      'read-prime-events',
    ],
    [
      'is ignored once there is a volume',
      { claim: on('n2'), prime: prime(), pv: pv(), source: found },
      'create-pod',
    ],
  ])('%s', (_, change, action) => {
    expect(decided({ storageClass: waiting, ...change })).toBe(action);
  });
});

describe('a pod that fails', () => {
  const failed = (more: object = {}) =>
    pod('Failed', {
      status: {
        phase: 'Failed',
        containerStatuses: [
          {
            name: 'populate',
            state: { terminated: { exitCode: 3, message: 'curl:\n  (7) refused', ...more } },
          },
        ],
      },
    });

  test('is counted with the end of its log before it is deleted', () => {
    const decision = decide(input({ prime: prime(), pv: pv(), pod: failed(), source: found }), NOW);
    expect(decision.action).toMatchObject({
      do: 'note-attempts',
      attempts: { failed: 1, pod: 'pod-uid', message: 'exit status 3: curl: (7) refused', at: NOW },
      event: {
        type: 'Warning',
        reason: 'PopulatorFailed',
        message: expect.stringContaining('(7) refused'),
      },
    });
    const noted = attempts(1, { pod: 'pod-uid' });
    expect(decided({ prime: noted, pv: pv(), pod: failed(), source: found })).toBe('delete-pod');
  });

  test.each<[string, object, string]>([
    ['is followed by another after a delay', attempts(1, { at: NOW - 4000 }), 'rest 6000'],
    ['is retried after a doubled delay', attempts(2, { at: NOW - 4000 }), 'rest 16000'],
    ['is retried after the delay', attempts(2, { at: NOW - 20_000 }), 'create-pod'],
    [
      'is not retried after four failures',
      attempts(4, { at: 0 }),
      'emit PopulatorFailed: 4 pods failed',
    ],
    [
      'is retried if the source changed',
      attempts(4, { of: 'definition-uid/1 source-uid/0' }),
      'create-pod',
    ],
    [
      'is retried if the record is invalid',
      annotated(prime(), { 'stowage.dev/populate-attempts': '{' }),
      'create-pod',
    ],
  ])('%s', (_, its, start) => {
    const decision = decided({ prime: its as never, pv: pv(), source: found });
    expect(decision.slice(0, start.length)).toBe(start);
  });

  test('counts as the first failure if the source has changed', () => {
    const decision = decide(
      input({ prime: attempts(3, { of: 'other' }), pv: pv(), pod: failed(), source: found }),
      NOW,
    );
    expect(decision).toMatchObject({ action: { attempts: { failed: 1 } } });
  });
});
