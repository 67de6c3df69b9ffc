import { describe } from '@jest/globals';
import { PAUSED_ANNOTATION, PROTECTION_FINALIZER } from '../../../src/api/names.ts';
import { explain as because, reason } from '../../../src/api/reasons.ts';
import { ago, nodeNamed, podNamed } from '../../support/cluster-objects.ts';
import {
  bound,
  claim,
  deleted,
  failedBy,
  forbidden,
  found,
  given,
  heldUpBy,
  preparing,
  pv,
  ready,
  released,
  takeOff,
  terminating,
  testRows,
  volume,
} from './volume-diagnosis.ts';

const PAUSED = { [PAUSED_ANNOTATION]: 'true' };
const heldByPv = terminating('the PersistentVolume is still in use');
describe('a deletion is held up by', () => {
  testRows([
    [
      given(
        'a running provision job',
        deleted({
          job: 'PrepareVolume/2',
          ...ready('Unknown', 'Terminating', 'waiting for the job PrepareVolume/2 to end'),
        }),
      ),
      heldUpBy('job PrepareVolume/2 on node n1 must end first', 'when the job has ended', {
        since: ago(600),
      }),
    ],
    [
      given('a bound claim', heldByPv, { ...bound, claim: found(claim()), pods: found([]) }),
      heldUpBy(
        'its PersistentVolume is in use: it is bound to the claim db/data-0',
        'when the claim is gone',
        { since: ago(600), run: ['kubectl delete pvc data-0 -n db'] },
      ),
    ],
    [
      given('a bound claim in use by pods', heldByPv, {
        ...bound,
        claim: found(claim()),
        pods: found([podNamed('db-0', 'db'), podNamed('db-1', 'db')]),
      }),
      heldUpBy('the claim db/data-0, which these pods use: db-0, db-1', 'claim is gone', {
        since: ago(600),
        run: ['kubectl delete pvc data-0 -n db'],
      }),
    ],
    [
      given('a claim that is being deleted, in use by pods', heldByPv, {
        ...bound,
        claim: found(claim({ deletionTimestamp: ago(60) })),
        pods: found([podNamed('db-0', 'db')]),
      }),
      heldUpBy('which is being deleted and used by the pods db-0', 'claim is gone', {
        since: ago(60),
        run: ['kubectl delete pod -n db db-0'],
      }),
    ],
    [
      given('a claim that is being deleted, held by a foreign finalizer', heldByPv, {
        ...bound,
        claim: found(claim({ deletionTimestamp: ago(60), finalizers: ['example.com/backup'] })),
        pods: found([]),
      }),
      heldUpBy('waits for the finalizers example.com/backup', 'claim is gone', {
        since: ago(60),
        run: ['kubectl get pvc data-0 -n db -o yaml', takeOff('pvc data-0 -n db')],
      }),
    ],
    [
      given(
        "a claim that is being deleted, held by Kubernetes' finalizer, whose pods may not be read",
        heldByPv,
        {
          ...bound,
          claim: found(
            claim({ deletionTimestamp: ago(60), finalizers: ['kubernetes.io/pvc-protection'] }),
          ),
          pods: forbidden,
        },
      ),
      heldUpBy('waits for the finalizers kubernetes.io/pvc-protection', 'claim is gone', {
        since: ago(60),
        run: ['kubectl describe pvc data-0 -n db'],
      }),
    ],
    [
      given('a claim that is bound to another PersistentVolume', heldByPv, {
        ...bound,
        claim: found({ ...claim(), spec: { volumeName: 'data2' } }),
        pods: found([]),
      }),
      heldUpBy('it is bound to the claim db/data-0', 'no longer in use', {
        since: ago(600),
        run: ['kubectl get pv data1 -o yaml'],
      }),
    ],
    [
      given('a bound claim that may not be read', heldByPv, { ...bound, claim: forbidden }),
      heldUpBy('it is bound to the claim db/data-0', 'no longer in use', {
        since: ago(600),
        run: ['kubectl get pv data1 -o yaml'],
      }),
    ],
    [
      given('foreign finalizers on the PersistentVolume', heldByPv, {
        pv: pv('Released', { finalizers: [PROTECTION_FINALIZER, 'example.com/backup'] }),
      }),
      heldUpBy('it has other finalizers: example.com/backup', 'no longer in use', {
        since: ago(600),
        run: ['kubectl get pv data1 -o yaml', takeOff('pv data1', 'example.com/backup', 1)],
      }),
    ],
    [
      given(
        'foreign finalizers on the Volume',
        deleted({ job: 'UnprepareVolume/DONE', ...ready('Unknown', 'Terminating') }, [
          'example.com/backup',
        ]),
      ),
      heldUpBy(
        'Stowage no longer holds it, but finalizers of other components remain: example.com/backup',
        'when they are removed',
        {
          since: ago(600),
          run: ['kubectl get volume data1 -o yaml', takeOff('volume data1')],
        },
      ),
    ],
    [
      given(
        'foreign finalizers on a Volume that no daemon has observed',
        deleted(undefined, ['example.com/backup']),
      ),
      heldUpBy(
        'finalizers of other components remain: example.com/backup',
        'when they are removed',
        {
          since: ago(600),
        },
      ),
    ],
    [
      given(
        'a device in use on the node',
        terminating('/dev/loop3 is mounted at /mnt', 'UnprepareVolume/1'),
        released,
      ),
      heldUpBy(
        'being removed from node n1: /dev/loop3 is mounted at /mnt',
        'when the removal has ended',
      ),
    ],
    [
      given(
        'a device in use by another device',
        terminating(
          because('LogicalVolumeInUse', {
            ...{ volume: 'vg0/data1', device: '/dev/dm-3' },
            ...{ uses: 'held by /dev/md127 (raid1)', command: 'mdadm --stop /dev/md127' },
          }),
          'UnprepareVolume/1',
        ),
        released,
      ),
      heldUpBy('held by /dev/md127 (raid1)', 'when the removal has ended', {
        run: ["ssh n1 'mdadm --stop /dev/md127'"],
      }),
    ],
    [
      given(
        'a failed step',
        deleted({
          phase: 'Failed',
          job: 'UnprepareVolume/4',
          ...ready(
            'False',
            'DestructionError',
            {
              message: 'attempt 3: rm failed',
              detail: reason('AttemptEnded', { attempt: 3 }),
            },
            300,
            1,
          ),
        }),
        released,
      ),
      heldUpBy('is not removed: attempt 3: rm failed', { at: ago(-3) }),
    ],
    [
      given(
        'a refused step',
        deleted({
          phase: 'Failed',
          job: 'UnprepareVolume/4',
          ...ready('False', 'DestructionError', 'it is not our file', 300),
        }),
        released,
      ),
      heldUpBy('is not removed: it is not our file', 'automatically'),
    ],
    [
      given(
        'a reclaimed Volume, though a claim is bound',
        terminating('', 'UnprepareVolume/DONE'),
        {
          ...bound,
          claim: found(claim()),
        },
      ),
      heldUpBy('being removed from node n1: UnprepareVolume/DONE', 'when the removal has ended'),
    ],
    [
      given('a paused Volume', volume(preparing('').status, { metadata: { annotations: PAUSED } })),
      heldUpBy('it is paused', 'when it is resumed', {
        since: undefined,
        run: ['stowage resume volume data1'],
      }),
    ],
    [
      given('a paused node, during deletion', terminating(''), {
        node: found(nodeNamed('n1', { ready: 'True', annotations: PAUSED })),
      }),
      heldUpBy('node n1 is paused', 'when it is resumed', {
        since: undefined,
        run: ['stowage resume node n1'],
      }),
    ],
    [
      given(
        'another failure of a paused Volume',
        volume(failedBy('CreationError', 'mkfs failed').status, {
          metadata: { annotations: PAUSED },
        }),
      ),
      heldUpBy('mkfs failed', 'spec is changed'),
    ],
  ]);
});
