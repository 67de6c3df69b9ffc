import { expect, test } from '@jest/globals';
import type { PersistentVolumeClaim, Pod, StorageClass } from '../../../src/api/core.ts';
import { type Explanation, explain } from '../../../src/api/reasons.ts';
import { diagnoseClaim } from '../../../src/cli/why/claim/diagnose.ts';
import type { ClaimFacts } from '../../../src/cli/why/claim/facts.ts';
import { NOW } from '../../support/cluster-objects.ts';
import { helloReference } from '../../support/hello.ts';
import { expectByCodes } from '../../support/scramble.ts';
import { claimNamed } from '../../support/snapshots.ts';
import { eventOf, FAST, knownOf, WAITS } from './claim-known.ts';

const OTHERS: StorageClass = { ...FAST, provisioner: 'ebs.csi.aws.com' };
const claim = claimNamed('data', { dataSourceRef: helloReference('example') });
const other = {
  other: {
    kind: 'other',
    group: 'hello.example.com',
    objectKind: 'Hello',
    namespace: 'test',
    name: 'example',
  },
} as const;

const known = (parts: Partial<ClaimFacts> = {}) =>
  knownOf(claim, {
    source: other,
    population: { definitions: ['hello'], registered: true },
    ...parts,
  });
const told = (reason: string, message: string) => ({ found: [eventOf(reason, { message })] });
const begun = {
  claim: {
    ...claim,
    metadata: { ...claim.metadata, finalizers: ['stowage.dev/populate-target-protection'] },
  },
};

const DELETED = { deletionTimestamp: '2029-12-31T23:58:00Z' };
const podIn = (phase: string, metadata: object = {}, status: object = {}) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod', spec: { nodeName: 'n1' }, status: { phase, ...status } },
    metadata: { name: 'populate-u', namespace: 'stowage', creationTimestamp: 'x', ...metadata },
  }) as Pod;
const attempts = (failed: number) =>
  JSON.stringify({
    failed,
    pod: 'p',
    message: 'exit status 1: no space',
    at: NOW - 60_000,
    of: 'o',
  });
const primeWith = (annotations: Record<string, string>): PersistentVolumeClaim => {
  const prime = claimNamed('prime-u');
  return { ...prime, metadata: { ...prime.metadata, annotations } };
};
/** Facts about a claim whose population has begun, with these objects in the daemon's namespace. */
const withMade = (
  pod: Pod | undefined,
  annotations: Record<string, string> = {},
): Partial<ClaimFacts> => ({
  ...begun,
  population: {
    definitions: ['hello'],
    registered: true,
    made: { prime: primeWith(annotations), pod },
  },
});
const NO_IMAGE = {
  containerStatuses: [
    { name: 'populate', state: { waiting: { reason: 'ImagePullBackOff', message: 'no' } } },
  ],
};
const NO_NODE = {
  conditions: [
    {
      ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
      message: '0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}',
    },
  ],
};

test.each<[string, Partial<ClaimFacts>, string, string]>([
  // The earlier event is unrelated.
  [
    'a pod that runs',
    { ...withMade(podIn('Running')), events: told('PopulatorCreationError', 'pod does not run') },
    'it is being filled by pod stowage/populate-u on node n1',
    'kubectl logs -n stowage populate-u',
  ],
  [
    'the second pod',
    withMade(podIn('Running'), { 'stowage.dev/populate-attempts': attempts(1) }),
    'on node n1, attempt 2 of 4; the last one failed: exit status 1: no space',
    'kubectl logs',
  ],
  [
    'a pod that does not run',
    withMade(podIn('Pending', {}, NO_IMAGE)),
    'pod stowage/populate-u, which should fill its volume, does not run: ImagePullBackOff: no',
    'kubectl describe pod -n stowage populate-u',
  ],
  [
    'a pod that no node fits',
    withMade(podIn('Pending', {}, NO_NODE)),
    'does not run: 0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: db}',
    'kubectl get nodes',
  ],
  [
    'a pod that a policy refuses',
    {
      ...begun,
      events: {
        found: [
          eventOf(
            'PopulatorCreationError',
            explain('PodRefused', {
              pod: 'stowage/populate-u',
              said: 'violates PodSecurity "restricted:latest"',
            }),
          ),
        ],
      },
    },
    'could not be created: violates PodSecurity "restricted:latest"',
    'stowage get populators',
  ],
  [
    'a pod that is being deleted',
    withMade(podIn('Running', DELETED)),
    'is being deleted on node n1: another one is created when it is gone',
    'kubectl get nodes',
  ],
  [
    'a pod that succeeded',
    withMade(podIn('Succeeded', DELETED), { 'stowage.dev/populated-by': 'p' }),
    'its volume is filled, and is bound to it once pod stowage/populate-u is gone',
    'kubectl get nodes',
  ],
  // Their events expire after an hour.
  [
    'pods that failed long ago',
    withMade(undefined, { 'stowage.dev/populate-attempts': attempts(4) }),
    '4 pods failed to fill its volume. The last one: exit status 1: no space',
    'stowage get populators',
  ],
  [
    'a missing definition, after the population has begun',
    { ...begun, population: { definitions: [], registered: true } },
    'no populator is registered for the kind',
    'stowage register populator hello',
  ],
  [
    'a claim that is being deleted while it is filled',
    {
      ...withMade(podIn('Running', DELETED)),
      claim: { ...begun.claim, metadata: { ...begun.claim.metadata, ...DELETED } },
    },
    'it is being deleted, and pod stowage/populate-u, which fills its volume on node n1, still exists',
    'kubectl get nodes',
  ],
  [
    'an unregistered kind',
    { population: { definitions: [], registered: false } },
    'no populator is registered for the kind Hello.hello.example.com',
    'stowage register populator hello --group hello.example.com --kind Hello --image IMAGE --mount-path PATH',
  ],
  [
    'a kind of another populator',
    { population: { definitions: [], registered: true } },
    'is for another populator',
    'stowage get populators',
  ],
  [
    'a source that is missing',
    { events: told('PopulatorDataSourceNotFound', 'Hello test/example does not exist') },
    'Hello test/example does not exist',
    'Create Hello example in namespace test',
  ],
  [
    'pods that failed',
    { ...begun, events: told('PopulatorFailed', '4 pods have failed. The last: no space') },
    '4 pods have failed. The last: no space',
    'A change of either triggers a retry.',
  ],
  [
    'a claim that is being filled',
    begun,
    'a volume is being filled for it from Hello example',
    'kubectl get pvc,pods -A -l stowage.dev/populates-uid=',
  ],
  [
    'a claim that waits for its first pod',
    { storageClass: { found: WAITS } },
    'its storage class waits for the first pod that uses the claim',
    'Create a pod in namespace test',
  ],
  // An event of the validator, from before the kind was registered.
  [
    'an outdated event',
    { ...begun, events: told('UnrecognizedDataSourceKind', 'The datasource does not match') },
    'a volume is being filled for it',
    'kubectl get pvc,pods',
  ],
  [
    'an unregistered kind, in a class of another provisioner',
    { storageClass: { found: OTHERS }, population: { definitions: [], registered: false } },
    'no populator is registered for the kind Hello.hello.example.com',
    'stowage register populator hello',
  ],
  [
    'a claim that waits for its first pod, in a class of another provisioner',
    { storageClass: { found: { ...OTHERS, volumeBindingMode: 'WaitForFirstConsumer' } } },
    'its storage class waits for the first pod that uses the claim',
    'Create a pod in namespace test',
  ],
  ['a claim that no daemon has processed', {}, 'no daemon has processed it yet', 'stowage watch'],
])('diagnoseClaim explains a claim with a populator: %s', (_, parts, holdup, fix) => {
  expectByCodes((facts) => diagnoseClaim(facts, NOW), known(parts));
  const found = diagnoseClaim(known(parts), NOW);
  expect(found).toMatchObject({ holdup: expect.stringContaining(holdup) });
  expect(JSON.stringify('fix' in found ? found.fix : found)).toContain(fix);
});

test.each<[string, Explanation, object]>([
  [
    'for want of a grant',
    explain('GrantMissing', {
      ...{ source: 'prod/x', kind: 'Hello', claim: 'test/data', namespace: 'prod' },
      ...{ from: 'PersistentVolumeClaim', own: 'test', group: 'hello.example.com' },
    }),
    { cause: 'GrantMissing' },
  ],
  [
    'by a gate',
    explain('PopulatorGateOff', { kind: 'Hello', source: 'prod/x', namespace: 'test' }),
    {
      holdup: 'Hello prod/x is in another namespace than test, which this daemon does not allow',
      cause: 'GateOff',
      fix: { daemonFlags: ['--feature-gates', expect.stringMatching(/=true$/)] },
    },
  ],
  [
    'because it is cluster-scoped',
    explain('SourceNotNamespaced', { kind: 'Hello', source: 'x', namespace: 'prod' }),
    { cause: 'SourceRefused' },
  ],
  [
    'because the daemon may not read it',
    explain('KindForbidden', { plural: 'hellos', group: 'hello.example.com', kind: 'Hello' }),
    { cause: 'SourceRefused' },
  ],
  ['by an earlier daemon', { message: "isn't allowed" }, { cause: 'UnknownReason' }],
])('diagnoseClaim explains a source that is refused %s', (_, why, found) => {
  const events = { found: [eventOf('PopulatorDataSourceRefused', why)] };
  expect(diagnoseClaim(known({ events }), NOW)).toMatchObject({ holdup: why.message, ...found });
});

test('diagnoseClaim ignores events of other components with the same reason', () => {
  const event = eventOf('PopulatorDataSourceNotFound', { message: 'x' });
  const events = { found: [{ ...event, source: { component: 'tenant' } }] };
  expect(diagnoseClaim(known({ events }), NOW)).not.toMatchObject({ cause: 'SourceMissing' });
});
