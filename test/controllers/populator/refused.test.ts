import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { WriteAction } from '../../../src/controllers/populator/actions.ts';
import { refusalOf } from '../../../src/controllers/populator/api-refusal.ts';
import { ApiError, ConnectionError } from '../../../src/kube/errors.ts';
import { OWN, pod, prime, pv, UID } from './input.ts';

const answer = (code: number, message: string, reason = '') =>
  new ApiError({ kind: 'Status', status: 'Failure', code, message, reason } as never, code, 'POST');

const createPrime: WriteAction = { do: 'create-prime', prime: prime() };
const createPod: WriteAction = {
  do: 'create-pod',
  pod: pod('Pending'),
  event: { type: 'Normal', reason: 'PopulatorCreated', message: '' },
};
const rebind: WriteAction = { do: 'rebind', pv: pv(), from: 'default/example' };

test.each<[string, WriteAction, Error, string | undefined, ReasonCode | undefined]>([
  [
    'a quota',
    createPrime,
    answer(403, 'exceeded quota: small'),
    `PopulatorPVCPrimeCreationError: prime claim ${OWN}/prime-${UID} could not be created: exceeded quota: small. Stowage retries`,
    'PrimeRefused',
  ],
  [
    'a policy',
    createPod,
    answer(422, 'violates PodSecurity'),
    `PopulatorCreationError: populator pod ${OWN}/populate-${UID} could not be created: violates PodSecurity. Stowage retries`,
    'PodRefused',
  ],
  [
    'a missing namespace',
    createPod,
    answer(404, 'namespaces "stowage" not found'),
    `PopulatorCreationError: populator pod ${OWN}/populate-${UID} could not be created: namespaces "stowage" not found. Stowage retries`,
    'PodRefused',
  ],
  [
    'a missing permission to rebind',
    rebind,
    answer(403, 'persistentvolumes is forbidden'),
    'PopulatorCreationError: PersistentVolume pv could not be bound to the claim: persistentvolumes is forbidden. Stowage retries',
    'RebindRefused',
  ],
  [
    'a missing permission to add the finalizer',
    { do: 'add-finalizer' },
    answer(403, 'persistentvolumeclaims is forbidden'),
    'PopulatorCreationError: population step add-finalizer was refused: persistentvolumeclaims is forbidden. Stowage retries',
    'PopulationStepRefused',
  ],
  // The object of the decision no longer exists, or is another one.
  ['a volume that is gone', rebind, answer(404, 'not found'), undefined, undefined],
  ['an old version', rebind, answer(409, 'the object has been modified'), undefined, undefined],
  ['an existing object', createPod, answer(409, 'exists', 'AlreadyExists'), undefined, undefined],
  ['no answer', createPod, new ConnectionError('https://x', 'cut off'), undefined, undefined],
])('a failed write is reported only if it was refused: %s', (_, effect, error, told, code) => {
  const refusal = refusalOf(effect, error, OWN);
  expect(refusal && `${refusal.reason}: ${refusal.message}`).toBe(told);
  expect(refusal?.detail?.code).toBe(code);
});
