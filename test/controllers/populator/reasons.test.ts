import { expect, test } from '@jest/globals';
import type { AnyEvent } from '../../../src/api/core.ts';
import {
  type Reason,
  type ReasonCode,
  reason,
  reasonAnnotations,
} from '../../../src/api/reasons.ts';
import type { EventToSend } from '../../../src/controllers/lib/event.ts';
import { decide } from '../../../src/controllers/populator/decide.ts';
import type { PopulatorInput } from '../../../src/controllers/populator/types.ts';
import { createWarnings } from '../../../src/controllers/populator/warnings.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { bound, SELECTED, waiting } from './decisions.ts';
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

const NAME = `${OWN}/populate-${UID}`;
const there = { prime: prime(), pv: pv(), source: found };
const unbound = prime({ spec: { volumeName: undefined }, status: { phase: 'Pending' } });
const onNode = {
  ...definition,
  spec: { ...definition.spec, pod: undefined, node: { builtin: 'Image' } },
};
const both = { ...definition, spec: { ...definition.spec, node: { builtin: 'Image' } } };
const begun = (seconds: number, status: object, origin = 'definition-uid/1 source-uid/1') =>
  pod('Pending', {
    metadata: {
      creationTimestamp: new Date(NOW - seconds * 1000).toISOString(),
      annotations: {
        'stowage.dev/populates': 'default/data',
        'stowage.dev/populate-origin': origin,
      },
    },
    status,
  });
const waits = (of: string) => ({
  containerStatuses: [{ name: 'populate', state: { waiting: { reason: of, message: 'no' } } }],
});
const NO_NODE = { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1' }] };
const gaveUp = annotated(prime(), {
  'stowage.dev/populate-attempts': JSON.stringify({
    ...{ failed: 4, pod: 'p', message: 'no space', at: 0 },
    of: 'definition-uid/1 source-uid/1',
  }),
});
const NO_ROOM = reason('NoRoom', { node: 'n1', free: 1, place: 'x', wanted: 2 });

test.each<[ReasonCode, Partial<PopulatorInput>, Reason['parameters']]>([
  ['DefinitionMissing', { definitions: [] }, { kind: 'Hello.hello.example.com' }],
  [
    'DefinitionsCompete',
    { definitions: [definition, { ...definition, metadata: { name: 'b' } }] },
    { definitions: 'hello, b' },
  ],
  ['DefinitionInvalid', { definitions: [both as never] }, { definition: 'hello' }],
  ['PopulatedClassMissing', { storageClass: undefined }, { class: 'fast' }],
  ['PopulatedClassNotNamed', { claim: claim({ spec: { storageClassName: undefined } }) }, {}],
  [
    'PopulatedClassStatic',
    { storageClass: storageClass({ provisioner: 'kubernetes.io/no-provisioner' }) },
    { class: 'fast' },
  ],
  [
    'PopulatedClassOfOthers',
    { definitions: [onNode as never], storageClass: storageClass({ provisioner: 'x' }) },
    { provisioner: 'x' },
  ],
  [
    'PopulationNameTaken',
    { pod: pod('Running', { metadata: { annotations: {} } }) },
    { kind: 'Pod' },
  ],
  [
    'NodeGivenBack',
    {
      claim: claim({ metadata: { annotations: { [SELECTED]: 'n1' } } }),
      ...{ prime: unbound, storageClass: waiting },
    },
    { node: 'n1' },
  ],
  [
    'FieldUnusable',
    { source: { is: 'ready', object: { ...found.object, spec: {} } as never } },
    { source: 'example', definition: 'hello' },
  ],
  ['PrimeUnbound', { prime: unbound, primeWarning: { found: { message: 'x' } } }, { said: 'x' }],
  // The reason of the prime claim's event is kept.
  [
    'NoRoom',
    { prime: unbound, primeWarning: { found: { message: 'x', detail: NO_ROOM } } },
    { node: 'n1' },
  ],
  ['PlacesTaken', { ...there, running: { all: 16, own: 0 } }, { max: '16' }],
  ['NamespacePlacesTaken', { ...there, running: { all: 8, own: 8 } }, { own: '8' }],
  ['PodCreated', there, { pod: NAME }],
  ['ImageRefused', { ...there, pod: begun(5, waits('ErrImagePull')) }, { state: 'ErrImagePull' }],
  ['PodUnscheduled', { ...there, pod: begun(5, NO_NODE) }, { said: '0/1' }],
  ['PodNotStarted', { ...there, pod: begun(5, waits('CreateContainerError')) }, { said: 'no' }],
  ['PodOutdated', { ...there, pod: begun(5, NO_NODE, 'other') }, { pod: NAME }],
  [
    'PodRunning',
    { ...there, pod: pod('Running'), lastEvent: { reason: 'PopulatorCreationError', key: '' } },
    { pod: NAME },
  ],
  ['PodFailed', { ...there, pod: pod('Failed') }, { failed: '1', max: '4', said: 'no message' }],
  ['PodsGivenUp', { ...there, prime: gaveUp }, { failed: '4', said: 'no space' }],
  ['VolumeFilled', { claim: bound(), pv: given() }, { volume: 'pv' }],
  [
    'SourceIgnored',
    { claim: bound(), pv: { ...given(), metadata: { name: 'pv' } } },
    { volume: 'pv', source: 'example', claim: 'data' },
  ],
])('the event of a decision has reason %s', (code, change, parameters) => {
  const { action } = decide(input(change), NOW);
  const { event, finished } = (action ?? {}) as { event?: EventToSend; finished?: EventToSend };
  expect((event ?? finished)?.detail).toMatchObject({ code, parameters });
});

test('the last warning about a prime claim is read with its reason', async () => {
  const event = (message: string, of: Partial<AnyEvent>, annotations = {}) =>
    ({ message, lastTimestamp: message, metadata: { name: 'e', annotations }, ...of }) as AnyEvent;
  const items = [
    event('3', { type: 'Normal' }),
    event('2', { type: 'Warning' }, reasonAnnotations(NO_ROOM)),
    event('1', { type: 'Warning' }),
  ];
  const warnings = createWarnings({ list: async () => ({ items }) } as unknown as KubeClient, OWN);
  expect(await warnings.against(prime())).toEqual({ message: '2', detail: NO_ROOM });
});
