import { describe, expect, test } from '@jest/globals';
import { decide } from '../../src/population/machine/decide.ts';
import type { MachineDecision, MachineInput } from '../../src/population/machine/types.ts';
import {
  annotated,
  claim,
  definition,
  found,
  given,
  input,
  NOW,
  OWN,
  pod,
  prime,
  pv,
  storageClass,
  UID,
} from './input.ts';

const DELETED = { metadata: { deletionTimestamp: '2026-11-22T11:00:00Z' } };
const SELECTED = 'volume.kubernetes.io/selected-node';
const waiting = storageClass({ volumeBindingMode: 'WaitForFirstConsumer' });
const populated = annotated(prime(), { 'stowage.dev/populated-by': 'pod-uid' });
const attempts = (failed: number, more: object = {}) =>
  annotated(prime(), {
    'stowage.dev/populate-attempts': JSON.stringify({
      ...{ failed, pod: 'earlier', message: 'no space', at: NOW - 1000 },
      of: 'definition-uid/1 source-uid/1',
      ...more,
    }),
  });
const bound = (more: object = {}) =>
  claim({ spec: { volumeName: 'pv' }, status: { phase: 'Bound' }, ...more });

/** What a decision does, in a word; with what it tells. */
const short = ({ action, requeueAfter }: MachineDecision): string => {
  if (action === undefined) return requeueAfter === undefined ? 'rest' : `rest ${requeueAfter}`;
  return action.do === 'tell' ? `tell ${action.event.reason}: ${action.event.message}` : action.do;
};
const decided = (change: Partial<MachineInput>) => short(decide(input(change), NOW));

describe('from nothing to a claim that is filled', () => {
  test.each<[string, Partial<MachineInput>, string]>([
    ['its source is read', {}, 'resolve-source'],
    [
      'it is protected first',
      { claim: claim({ metadata: { finalizers: [] } }), source: found },
      'add-finalizer',
    ],
    ['a prime claim is made', { source: found }, 'create-prime'],
    [
      'that has no volume yet, and who makes it is listened to',
      { prime: prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } }) },
      'look-at-prime',
    ],
    [
      'it says nothing',
      {
        prime: prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } }),
        primeSays: { found: undefined },
      },
      'rest 10000',
    ],
    ['the source is read again, right before it is used', { prime: prime(), pv: pv() }, 'resolve-source'],
    ['a pod is made', { prime: prime(), pv: pv(), source: found }, 'create-pod'],
    ['it runs', { prime: prime(), pv: pv(), pod: pod('Running') }, 'rest'],
    ['it has ended well', { prime: prime(), pv: pv(), pod: pod('Succeeded') }, 'mark-populated'],
    ['it lets go of the volume', { prime: populated, pv: pv(), pod: pod('Succeeded') }, 'delete-pod'],
    ['it is about to', { prime: populated, pv: pv(), pod: pod('Succeeded', DELETED) }, 'rest'],
    ['the volume becomes the claim’s', { prime: populated, pv: pv() }, 'rebind'],
    ['the binder has not seen that', { prime: populated, pv: given() }, 'rest'],
    [
      'though the prime claim knows',
      { prime: { ...populated, status: { phase: 'Lost' } }, pv: given() },
      'rest',
    ],
    ['or is gone', { pv: given(), source: found }, 'rest'],
    ['the prime claim does not know', { claim: bound(), prime: populated, pv: given() }, 'rest'],
    [
      'the prime claim goes',
      { claim: bound(), prime: { ...populated, status: { phase: 'Lost' } }, pv: given() },
      'delete-prime',
    ],
    ['the finalizer goes', { claim: bound(), pv: given() }, 'remove-finalizer'],
    ['all is done', { claim: bound({ metadata: { finalizers: [] } }), pv: given() }, 'rest'],
  ])('%s', (_, change, action) => {
    expect(decided(change)).toBe(action);
  });

  test('what is told at its end is told before the finalizer is gone', () => {
    expect(decide(input({ claim: bound(), pv: given() }), NOW).action).toMatchObject({
      do: 'remove-finalizer',
      finished: { type: 'Normal', reason: 'PopulatorFinished' },
    });
  });

  test('the prime claim is like the claim, and starts from nothing', () => {
    const selected = claim({
      metadata: { annotations: { [SELECTED]: 'n1' } },
      spec: { volumeMode: 'Block' },
    });
    const { action } = decide(
      input({
        claim: selected,
        source: found,
        storageClass: waiting,
        definitions: [
          { ...definition, spec: { ...definition.spec, pod: { image: 'i', devicePath: '/dev/target' } } },
        ],
      }),
      NOW,
    );
    expect(action).toMatchObject({
      do: 'create-prime',
      prime: {
        metadata: { name: `prime-${UID}`, namespace: OWN, annotations: { [SELECTED]: 'n1' } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          volumeMode: 'Block',
          storageClassName: 'fast',
          resources: { requests: { storage: '1Gi' } },
        },
      },
    });
    expect(action).not.toHaveProperty('prime.spec.dataSourceRef');
    expect(action).not.toHaveProperty('prime.spec.dataSource');
  });

  test('the pod has the volume, its arguments, and nothing else', () => {
    const { action } = decide(input({ prime: prime(), pv: pv(), source: found }), NOW);
    expect(action).toMatchObject({
      do: 'create-pod',
      pod: {
        metadata: { name: `populate-${UID}`, namespace: OWN },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          containers: [
            {
              name: 'populate',
              args: ['/target/hello.txt', 'Hello, world!'],
              terminationMessagePolicy: 'FallbackToLogsOnError',
              volumeMounts: [{ name: 'target', mountPath: '/target' }],
            },
          ],
          volumes: [{ name: 'target', persistentVolumeClaim: { claimName: `prime-${UID}` } }],
        },
      },
    });
  });
});

describe('what it waits for', () => {
  const failure = {
    type: 'Warning',
    reason: 'PopulatorDataSourceNotFound',
    message: 'Hello x does not exist',
  } as const;

  test.each<[string, Partial<MachineInput>, string]>([
    [
      'a kind that nothing here fills',
      { claim: claim({ metadata: { finalizers: [] } }), definitions: [] },
      'rest',
    ],
    ['a definition that is gone', { definitions: [] }, 'tell PopulatorCreationError: no PopulatorDefinition'],
    [
      'one of two definitions',
      { definitions: [definition, { ...definition, metadata: { name: 'second' } }] },
      'tell PopulatorCreationError: more than one PopulatorDefinition is for Hello.hello.example.com: hello, second',
    ],
    [
      'a class that is not there',
      { storageClass: undefined },
      'tell PopulatorPVCPrimeCreationError: StorageClass fast does not exist',
    ],
    [
      'a static class, whose volumes anyone may be bound to',
      { storageClass: storageClass({ provisioner: 'kubernetes.io/no-provisioner' }) },
      'tell PopulatorPVCPrimeCreationError: StorageClass fast is for volumes made by hand',
    ],
    ['the first pod', { storageClass: waiting }, 'rest'],
    [
      'its source',
      { source: { is: 'waits', event: failure } },
      'tell PopulatorDataSourceNotFound: Hello x does not exist',
    ],
    [
      'its source, as was told',
      {
        source: { is: 'waits', event: failure },
        told: 'PopulatorDataSourceNotFound: Hello x does not exist',
      },
      'rest 300000',
    ],
    [
      'a definition for Block',
      { claim: claim({ spec: { volumeMode: 'Block' } }), source: found },
      'tell PopulatorCreationError: Hello example cannot be used by PopulatorDefinition hello: it is not for volumes of mode Block',
    ],
    [
      'a field that the source lacks',
      { source: { is: 'ready', object: { ...found.object, spec: {} } as never } },
      'tell PopulatorCreationError: Hello example cannot be used by PopulatorDefinition hello: it has no field .spec.fileName',
    ],
    [
      'what others say of the prime claim',
      {
        prime: prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } }),
        primeSays: { found: 'node n1 has no room' },
      },
      `tell PopulatorPVCPrimeCreationError: no volume is made for claim stowage/prime-${UID} yet: node n1 has no room`,
    ],
    [
      'other pods to end',
      { prime: prime(), pv: pv(), source: found, running: 16 },
      'tell PopulatorCreated: 16 pods fill volumes already',
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
              { name: 'populate', state: { waiting: { reason: 'ErrImagePull', message: 'no such' } } },
            ],
          },
        }),
      },
      `tell PopulatorCreationError: pod stowage/populate-${UID} does not run: ErrImagePull: no such`,
    ],
    [
      'somebody else’s claim to go',
      { prime: prime({ metadata: { annotations: {} } }) },
      'tell PopulatorPVCPrimeCreationError: a PersistentVolumeClaim stowage/',
    ],
    [
      'somebody else’s pod to go',
      { pod: pod('Running', { metadata: { annotations: {} } }) },
      'tell PopulatorPVCPrimeCreationError: a Pod stowage/',
    ],
  ])('%s', (_, change, start) => {
    expect(decided(change).slice(0, start.length)).toBe(start);
  });
});

describe('a node that is given back', () => {
  const unbound = prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } });
  const on = (node?: string) =>
    claim({ metadata: { annotations: node === undefined ? {} : { [SELECTED]: node } } });

  test.each<[string, Partial<MachineInput>, string]>([
    ['is given back for the claim', { claim: on('n1'), prime: unbound }, 'give-back'],
    ['and the prime claim made anew', { claim: on(), prime: unbound }, 'delete-prime'],
    [
      'where another one is chosen',
      { claim: on('n2'), prime: annotated(unbound, { [SELECTED]: 'n1' }) },
      'delete-prime',
    ],
    [
      'and not where it is the same',
      { claim: on('n1'), prime: annotated(unbound, { [SELECTED]: 'n1' }) },
      'look-at-prime',
    ],
    [
      'nor once there is a volume',
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

  test('is counted with the end of its log, before it goes', () => {
    const decision = decide(input({ prime: prime(), pv: pv(), pod: failed(), source: found }), NOW);
    expect(decision.action).toMatchObject({
      do: 'note-attempts',
      attempts: { failed: 1, pod: 'pod-uid', message: 'exit status 3: curl: (7) refused', at: NOW },
      event: { type: 'Warning', reason: 'PopulatorFailed', message: expect.stringContaining('(7) refused') },
    });
    const noted = attempts(1, { pod: 'pod-uid' });
    expect(decided({ prime: noted, pv: pv(), pod: failed(), source: found })).toBe('delete-pod');
  });

  test.each<[string, object, string]>([
    ['is followed by another after a delay', attempts(1, { at: NOW - 4000 }), 'rest 6000'],
    ['that doubles', attempts(2, { at: NOW - 4000 }), 'rest 16000'],
    ['and is over then', attempts(2, { at: NOW - 20_000 }), 'create-pod'],
    ['but not for ever', attempts(4, { at: 0 }), 'tell PopulatorFailed: 4 pods have failed'],
    ['unless the source is another', attempts(4, { of: 'definition-uid/1 source-uid/0' }), 'create-pod'],
    [
      'whatever somebody wrote there',
      annotated(prime(), { 'stowage.dev/populate-attempts': '{' }),
      'create-pod',
    ],
  ])('%s', (_, its, start) => {
    const decision = decided({ prime: its as never, pv: pv(), source: found });
    expect(decision.slice(0, start.length)).toBe(start);
  });

  test('counts anew once its source is another', () => {
    const decision = decide(
      input({ prime: attempts(3, { of: 'other' }), pv: pv(), pod: failed(), source: found }),
      NOW,
    );
    expect(decision).toMatchObject({ action: { attempts: { failed: 1 } } });
  });
});

describe('a claim that is deleted takes all with it', () => {
  const gone = { definitions: [], storageClass: undefined, source: undefined };
  const deleted = claim(DELETED);

  test.each<[string, Partial<MachineInput>, string]>([
    ['the pod first', { prime: prime(), pv: pv(), pod: pod('Running') }, 'delete-pod'],
    ['which has time to end', { prime: prime(), pv: pv(), pod: pod('Running', DELETED) }, 'rest'],
    ['then the prime claim', { prime: prime(), pv: pv() }, 'delete-prime'],
    ['which is held by nothing of ours', { prime: prime(DELETED), pv: pv() }, 'rest'],
    [
      'with its volume, whatever the class says',
      { prime: prime(), pv: pv({ spec: { persistentVolumeReclaimPolicy: 'Retain' } }) },
      'release-pv',
    ],
    ['also one that was given to it and never seen', { prime: prime(), pv: given('Retain') }, 'release-pv'],
    ['the finalizer last', {}, 'remove-finalizer'],
    ['and no more', { claim: claim({ metadata: { ...DELETED.metadata, finalizers: [] } }) }, 'rest'],
  ])('%s', (_, change, action) => {
    expect(decided({ claim: deleted, ...gone, ...change })).toBe(action);
  });

  test('but not a volume that it was bound to', () => {
    const was = bound({ metadata: { deletionTimestamp: 'x' } });
    expect(
      decided({ claim: was, ...gone, prime: prime({ status: { phase: 'Lost' } }), pv: given('Retain') }),
    ).toBe('delete-prime');
  });

  test('without an event of success', () => {
    expect(decide(input({ claim: deleted, ...gone }), NOW).action).toEqual({ do: 'remove-finalizer' });
  });

  test.each<[string, Partial<MachineInput>, string]>([
    ['is asked for before anything goes', {}, 'read-claim'],
    ['is there after all', { liveClaim: { found: claim() } }, 'rest 1000'],
    ['is gone', { liveClaim: { found: undefined } }, 'delete-prime'],
    ['is another one', { liveClaim: { found: claim({ metadata: { uid: 'other' } }) } }, 'delete-prime'],
  ])('one that the cache lacks %s', (_, change, action) => {
    expect(decided({ claim: undefined, ...gone, prime: prime(), pv: pv(), ...change })).toBe(action);
  });
});

describe('what went otherwise', () => {
  test.each<[string, Partial<MachineInput>, string]>([
    [
      'a claim that was bound to another volume is left alone',
      { claim: bound({ spec: { volumeName: 'other' } }), prime: prime(), pv: pv() },
      'delete-prime',
    ],
    ['nothing is begun for one that is bound', { claim: bound({ metadata: { finalizers: [] } }) }, 'rest'],
    [
      'a prime claim that lost its volume is made anew',
      { prime: prime({ status: { phase: 'Lost' } }) },
      'delete-prime',
    ],
    [
      'but not by a cache that is behind',
      { prime: prime({ status: { phase: 'Lost' } }), pv: pv() },
      'rest 1000',
    ],
    [
      'one that is being deleted ends its pod',
      { prime: prime(DELETED), pv: pv(), pod: pod('Running') },
      'delete-pod',
    ],
    ['and is waited for', { prime: prime(DELETED), pv: pv() }, 'rest'],
    ['a pod without a prime claim goes', { pod: pod('Pending') }, 'delete-pod'],
    [
      'a claim that is filled becomes the user’s without its definition',
      { definitions: [], storageClass: undefined, prime: populated, pv: pv() },
      'rebind',
    ],
    [
      'so does one whose pod has just ended',
      { definitions: [], prime: prime(), pv: pv(), pod: pod('Succeeded') },
      'mark-populated',
    ],
    [
      'a finalizer that somebody took off is put back before',
      { claim: claim({ metadata: { finalizers: [] } }), prime: populated, pv: pv() },
      'add-finalizer',
    ],
    [
      'a volume of somebody else is not given away',
      { prime: populated, pv: pv({ spec: { claimRef: { uid: 'other' } } }) },
      'rest',
    ],
    [
      'a claim of a class that is gone goes on',
      { storageClass: undefined, prime: prime(), pv: pv(), source: found },
      'create-pod',
    ],
  ])('%s', (_, change, action) => {
    expect(decided(change)).toBe(action);
  });
});

describe('a kind that is filled from on the node', () => {
  const onNode = {
    ...definition,
    spec: { ...definition.spec, pod: undefined, node: { builtin: 'Image' } },
  } as never;
  test.each<[string, Partial<MachineInput>, string]>([
    ['is left to who makes the volumes of a class of Stowage', {}, 'rest'],
    ['is waited with until the class is there', { storageClass: undefined }, 'rest'],
    [
      'of another class is told of, once',
      { storageClass: storageClass({ provisioner: 'other.example.com' }) },
      'tell PopulatorCreationError: PopulatorDefinition hello fills volumes from Hello.hello.example.com on their node, which can be done for storage classes of provisioner volume.stowage.dev alone, and class fast is of other.example.com. Use another class, or register a pod for the kind',
    ],
  ])('%s', (_, change, expected) => {
    expect(
      decided({ definitions: [onNode], prime: undefined, pod: undefined, pv: undefined, ...change }),
    ).toBe(expected);
  });
});
