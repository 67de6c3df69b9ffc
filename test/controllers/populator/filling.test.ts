import { describe, expect, test } from '@jest/globals';
import { decide } from '../../../src/controllers/populator/decide.ts';
import type { PopulatorInput } from '../../../src/controllers/populator/types.ts';
import { bound, DELETED, decided, populated, SELECTED, waiting } from './decisions.ts';
import {
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

describe('filling a claim', () => {
  test.each<[string, Partial<PopulatorInput>, string]>([
    ['the source is read', {}, 'resolve-source'],
    [
      'the finalizer is added',
      { claim: claim({ metadata: { finalizers: [] } }), source: found },
      'add-finalizer',
    ],
    ['the prime claim is created', { source: found }, 'create-prime'],
    [
      'the events of an unbound prime claim are read',
      { prime: prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } }) },
      'read-prime-events',
    ],
    [
      'an unbound prime claim without events is awaited',
      {
        prime: prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } }),
        primeWarning: { found: undefined },
      },
      'rest 10000',
    ],
    ['the source is read again before its use', { prime: prime(), pv: pv() }, 'resolve-source'],
    ['the pod is created', { prime: prime(), pv: pv(), source: found }, 'create-pod'],
    ['the running pod is awaited', { prime: prime(), pv: pv(), pod: pod('Running') }, 'rest'],
    [
      'the succeeded pod is recorded',
      { prime: prime(), pv: pv(), pod: pod('Succeeded') },
      'mark-populated',
    ],
    [
      'the succeeded pod is deleted',
      { prime: populated, pv: pv(), pod: pod('Succeeded') },
      'delete-pod',
    ],
    ['the pod terminates', { prime: populated, pv: pv(), pod: pod('Succeeded', DELETED) }, 'rest'],
    ['the volume is rebound to the claim', { prime: populated, pv: pv() }, 'rebind'],
    ['the binder is awaited', { prime: populated, pv: given() }, 'rest'],
    [
      'the binder is awaited after the prime claim is Lost',
      { prime: { ...populated, status: { phase: 'Lost' } }, pv: given() },
      'rest',
    ],
    ['the binder is awaited after the prime claim is gone', { pv: given(), source: found }, 'rest'],
    ['the prime claim is awaited', { claim: bound(), prime: populated, pv: given() }, 'rest'],
    [
      'the prime claim is deleted',
      { claim: bound(), prime: { ...populated, status: { phase: 'Lost' } }, pv: given() },
      'delete-prime',
    ],
    ['the finalizer is removed', { claim: bound(), pv: given() }, 'remove-finalizer'],
    ['nothing is left', { claim: bound({ metadata: { finalizers: [] } }), pv: given() }, 'rest'],
  ])('proceeds in order: %s', (_, change, action) => {
    expect(decided(change)).toBe(action);
  });

  test('reports that the claim was bound to another volume meanwhile', () => {
    const foreign = { ...given(), metadata: { name: 'pv' } };
    const { action } = decide(input({ claim: bound(), pv: foreign }), NOW);
    expect(action).toMatchObject({
      do: 'remove-finalizer',
      finished: {
        type: 'Warning',
        reason: 'PopulatorCreationError',
        message: expect.stringContaining(
          'bound to PersistentVolume pv, which was not filled from Hello example: the provisioner of StorageClass fast ignores data sources',
        ),
      },
    });
    // The PersistentVolume is not in the cache yet.
    expect(decide(input({ claim: bound(), pv: undefined }), NOW).action).toEqual({
      do: 'remove-finalizer',
    });
  });

  test('emits the final event before it removes the finalizer', () => {
    expect(decide(input({ claim: bound(), pv: given() }), NOW).action).toMatchObject({
      do: 'remove-finalizer',
      finished: { type: 'Normal', reason: 'PopulatorFinished' },
    });
  });

  test('creates a prime claim like the claim, without a data source', () => {
    const selected = claim({
      metadata: { annotations: { [SELECTED]: 'n1' } },
      spec: {
        volumeMode: 'Block',
        selector: { matchLabels: { tier: 'fast' } },
        volumeAttributesClassName: 'gold',
      },
    });
    const { action } = decide(
      input({
        claim: selected,
        source: found,
        storageClass: waiting,
        definitions: [
          {
            ...definition,
            spec: { ...definition.spec, pod: { image: 'i', devicePath: '/dev/target' } },
          },
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
          selector: { matchLabels: { tier: 'fast' } },
          volumeAttributesClassName: 'gold',
          storageClassName: 'fast',
          resources: { requests: { storage: '1Gi' } },
        },
      },
    });
    expect(action).not.toHaveProperty('prime.spec.dataSourceRef');
    expect(action).not.toHaveProperty('prime.spec.dataSource');
  });

  test('creates a pod with only the volume and its arguments', () => {
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

describe('a kind whose volumes are filled on their node', () => {
  const onNode = {
    ...definition,
    spec: { ...definition.spec, pod: undefined, node: { builtin: 'Image' } },
  } as never;
  test.each<[string, Partial<PopulatorInput>, string]>([
    ['is left to the provisioner for a Stowage class', {}, 'rest'],
    ['waits for a missing class', { storageClass: undefined }, 'rest'],
    [
      'is reported once with a class of another provisioner',
      { storageClass: storageClass({ provisioner: 'other.example.com' }) },
      'emit PopulatorCreationError: PopulatorDefinition hello fills volumes from Hello.hello.example.com on their node, and storage class fast has provisioner other.example.com, not volume.stowage.dev. Use another class, or register a pod for the kind',
    ],
  ])('%s', (_, change, expected) => {
    expect(
      decided({
        definitions: [onNode],
        prime: undefined,
        pod: undefined,
        pv: undefined,
        ...change,
      }),
    ).toBe(expected);
  });
});
