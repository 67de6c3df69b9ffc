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
    `PopulatorPVCPrimeCreationError: claim ${OWN}/prime-${UID}, which is to be filled for this one, is refused: exceeded quota: small. It is tried again`,
    'PrimeRefused',
  ],
  [
    'a policy',
    createPod,
    answer(422, 'violates PodSecurity'),
    `PopulatorCreationError: pod ${OWN}/populate-${UID}, which is to fill the volume, is refused: violates PodSecurity. It is tried again`,
    'PodRefused',
  ],
  [
    'a namespace that is not there',
    createPod,
    answer(404, 'namespaces "stowage" not found'),
    `PopulatorCreationError: pod ${OWN}/populate-${UID}, which is to fill the volume, is refused: namespaces "stowage" not found. It is tried again`,
    'PodRefused',
  ],
  [
    'a right',
    rebind,
    answer(403, 'persistentvolumes is forbidden'),
    'PopulatorCreationError: to give PersistentVolume pv to the claim is refused: persistentvolumes is forbidden. It is tried again',
    'RebindRefused',
  ],
  [
    'another right',
    { do: 'add-finalizer' },
    answer(403, 'persistentvolumeclaims is forbidden'),
    'PopulatorCreationError: what comes next for it (add-finalizer) is refused: persistentvolumeclaims is forbidden. It is tried again',
    'PopulationStepRefused',
  ],
  // The object of the decision no longer exists, or is another one.
  ['a volume that is gone', rebind, answer(404, 'not found'), undefined, undefined],
  [
    'a version that is old',
    rebind,
    answer(409, 'the object has been modified'),
    undefined,
    undefined,
  ],
  ['one of its name', createPod, answer(409, 'exists', 'AlreadyExists'), undefined, undefined],
  ['no answer', createPod, new ConnectionError('https://x', 'cut off'), undefined, undefined],
])('%s', (_, effect, error, told, code) => {
  const refusal = refusalOf(effect, error, OWN);
  expect(refusal && `${refusal.reason}: ${refusal.message}`).toBe(told);
  expect(refusal?.detail?.code).toBe(code);
});
