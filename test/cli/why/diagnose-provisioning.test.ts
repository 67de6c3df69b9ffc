import { describe } from '@jest/globals';
import { READY_REASON } from '../../../src/api/names.ts';
import { explain as because, reason } from '../../../src/api/reasons.ts';
import { ago } from '../../support/cluster-objects.ts';
import {
  available,
  bound,
  deleted,
  given,
  heldUpBy,
  noNode,
  preparing,
  ready,
  testRows,
  volume,
} from './volume-diagnosis.ts';

const CREATED = '2029-12-31T19:00:00Z';

describe('a Volume is held up before it is attached by', () => {
  testRows([
    [
      given('a Volume that no daemon has observed', volume()),
      heldUpBy('no daemon has observed it', 'node n1 runs', {
        since: CREATED,
        run: ['stowage watch'],
      }),
    ],
    [
      given(
        'a Volume that no daemon has observed, of a node that does not exist',
        volume(),
        noNode,
      ),
      heldUpBy('node n1 is not in this cluster', 'node n1 runs', { since: CREATED }),
    ],
    [
      given(
        'an invalid Volume that no daemon has observed',
        volume(undefined, { spec: { nodeName: 'N 1' } }),
        noNode,
      ),
      heldUpBy('no daemon has observed it', 'runs', { since: CREATED }),
    ],
    [
      given(
        'a change that no daemon has observed',
        volume({ ...available.status, observedGeneration: 1 }, { metadata: { generation: 2 } }),
        bound,
      ),
      heldUpBy('its changed spec yet (generation 2, observed 1)', 'node n1 runs', {
        since: undefined,
        run: ['stowage watch'],
      }),
    ],
    [
      given(
        'a deletion that no daemon has observed',
        deleted({ phase: 'Available', ...ready('True', 'Available', '', 700) }),
      ),
      heldUpBy('no daemon has observed its deletion', 'node n1 runs', {
        since: ago(600),
        run: ['stowage watch'],
      }),
    ],
    [
      given('the deletion of a Volume that no daemon has observed', deleted()),
      heldUpBy('no daemon has observed its deletion', 'node n1 runs', { since: ago(600) }),
    ],
    [
      given('a running job', preparing('make the file system')),
      heldUpBy(
        'PrepareVolume (attempt 1) is running on node n1: make the file system',
        'when the job has ended',
        { since: ago(1) },
      ),
    ],
    [
      given('a job without progress for ten minutes', preparing('make the file system', 1, 600)),
      heldUpBy('is running', 'the job has ended', {
        since: ago(600),
        say: 'its log for this Volume',
      }),
    ],
    [
      given(
        'a source that stays in use',
        volume({
          phase: 'Pending',
          job: 'PrepareVolume/1',
          attempt: 1,
          ...ready(
            'Unknown',
            READY_REASON.waitingForSource,
            'the volume data0 is in use',
            6000,
            6000,
          ),
        }),
      ),
      heldUpBy('the volume data0 is in use', 'checked at least every 5 min', { since: ago(6000) }),
    ],
    [
      given(
        'storage that still belongs to another Volume',
        volume({
          phase: 'Pending',
          job: 'PrepareVolume/1',
          attempt: 1,
          ...ready('False', READY_REASON.adoptionRefused, 'node n1 is Ready', 60, 60),
        }),
      ),
      heldUpBy('node n1 is Ready', 'checked at least every 5 min', { since: ago(60) }),
    ],
    [
      given(
        'an attempt in backoff',
        preparing(
          {
            message: 'attempt 4 ended early: the job ended without a result',
            detail: reason('AttemptEnded', { attempt: 4 }),
          },
          5,
          3,
        ),
      ),
      heldUpBy(
        'PrepareVolume (attempt 5) waits for its next attempt on node n1: attempt 4 ended early',
        { at: ago(-5) },
        { since: ago(3) },
      ),
    ],
    [
      given(
        'an attempt after its backoff',
        preparing(because('JobStepRuns', { step: 'make the file system' }), 5, 3),
      ),
      heldUpBy('PrepareVolume (attempt 5) is running', 'the job has ended', { since: ago(3) }),
    ],
    [
      given(
        'an attempt in backoff, as an earlier version reports it',
        preparing('attempt 4 ended early: no room', 5, 3),
      ),
      heldUpBy('attempt 4 ended early: no room', { at: ago(-5) }, { since: ago(3) }),
    ],
    [
      given(
        'a device whose PersistentVolume is not created yet',
        volume({
          phase: 'Pending',
          job: 'PrepareVolume/DONE',
          ...ready('Unknown', 'Pending', '', 300, 2),
        }),
      ),
      heldUpBy('its PersistentVolume does not exist yet', 'if a daemon runs', { since: ago(2) }),
    ],
  ]);
});
