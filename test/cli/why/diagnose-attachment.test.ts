import { describe, expect, test } from '@jest/globals';
import { NODES } from '../../../src/api/reasons/nodes.ts';
import type { ReasonEntry } from '../../../src/api/reasons/types.ts';
import { explain, reason } from '../../../src/api/reasons.ts';
import type { Attachment } from '../../../src/api/volume.ts';
import { ago, attachmentOn as on } from '../../support/cluster-objects.ts';
import {
  attachedAs,
  attaching,
  bound,
  deleted,
  given,
  heldUpBy,
  ready,
  released,
  testRows,
  volume,
  explain as whyOf,
} from './volume-diagnosis.ts';

const failed = reason('StepFailed', { step: 'attach the file', exit: 1, output: 'losetup: no' });

describe('a Volume is held up in its attachment by', () => {
  testRows([
    [
      given(
        'a device that is attached again',
        volume({
          phase: 'Failed',
          job: 'AttachVolume/1',
          ...ready('Unknown', 'Attaching', 'attach', 9),
        }),
        bound,
      ),
      heldUpBy('AttachVolume (attempt 1) is running on node n1: attach', 'job has ended', {
        since: ago(9),
      }),
    ],
    [
      given(
        'a device that is attached again, after a change of the spec',
        volume(
          {
            phase: 'Available',
            observedGeneration: 1,
            job: 'AttachVolume/1',
            ...ready('Unknown', 'Attaching', '', 9),
          },
          { metadata: { generation: 2 } },
        ),
        bound,
      ),
      heldUpBy('AttachVolume (attempt 1) is running', 'job has ended', { since: ago(9) }),
    ],
    [
      given('an attach that has not begun', attaching(), bound),
      heldUpBy('is being attached', 'a daemon with the controller attachment runs', {
        since: ago(9),
        run: ['stowage watch'],
      }),
    ],
    [
      given(
        'an attach that failed',
        attaching(
          on('n1', {
            ...{ state: 'Attaching', safeToMount: false },
            ...{ message: 'losetup: no', detail: failed },
          }),
        ),
        bound,
      ),
      heldUpBy('its attachment to node n1 is Attaching: losetup: no', 'after a backoff', {
        since: ago(60),
        say: 'Check the log of the daemon for the volume.',
      }),
    ],
    [
      given(
        'a detach whose job runs',
        attachedAs(
          on('n1', { state: 'Detaching', ...explain('OperationUnderWay', { step: 'write back' }) }),
        ),
        bound,
      ),
      heldUpBy(
        'its attachment to node n1 is Detaching: its job is running: write back',
        'after a backoff',
        {
          since: ago(60),
          say: 'such as an unresponsive file server',
          run: ['ssh n1 ps axl'],
        },
      ),
    ],
    [
      given(
        'an attach that waits for other operations',
        attaching(on('n1', { state: 'Attaching', ...explain('OperationQueued') })),
        bound,
      ),
      heldUpBy(
        'its attachment to node n1 is Attaching: waiting for other operations to end',
        'after a backoff',
        {
          since: ago(60),
          say: 'Check what the running operations wait for',
          run: ['stowage get attachments -o wide'],
        },
      ),
    ],
    [
      given(
        'an uncertain attachment, of several',
        attachedAs(on('n2'), on('n1', { state: 'Uncertain', message: 'no route' })),
        bound,
      ),
      heldUpBy(
        'Uncertain, which counts as attached until the node is verified: no route',
        'after a backoff',
        {
          since: ago(60),
          say: 'Only if its machine is dead and switched off, force-detach the volume: stowage detach volume data1 --node n1 --force',
          run: ['stowage check node n1'],
        },
      ),
    ],
    [
      given(
        'an uncertain attachment, by a node that answered',
        attachedAs(on('n1', { state: 'Uncertain', ...explain('JobStillRuns', { node: 'n1' }) })),
        bound,
      ),
      heldUpBy('a job of this Volume still runs on node n1', 'after a backoff', {
        since: ago(60),
        say: 'Check what the processes there wait for',
        run: ['ssh n1 ps axl'],
      }),
    ],
    [
      given(
        'an uncertain attachment without a message',
        attachedAs(on('n1', { state: 'Uncertain' })),
        bound,
      ),
      heldUpBy('its attachment to node n1 is Uncertain', 'after a backoff', { since: ago(60) }),
    ],
    [
      given(
        'a detach that is held up by pods',
        attachedAs(on('n1', { state: 'Detaching', message: 'mounted', pods: ['db/x'] })),
        bound,
      ),
      heldUpBy('its attachment to node n1 is Detaching: mounted', 'after a backoff', {
        since: ago(60),
        say: 'Pods that need it on node n1: db/x',
      }),
    ],
    [
      given(
        'a disabled attachment controller',
        volume({
          phase: 'Available',
          ...ready('Unknown', 'AttachmentDisabled', 'switched off', 9),
        }),
        bound,
      ),
      heldUpBy('switched off', 'when a daemon with the controller attachment runs', {
        since: ago(9),
        run: ['--controllers', '*'],
      }),
    ],
    [
      given(
        'a deletion with a disabled attachment controller',
        deleted({
          phase: 'Terminating',
          ...ready('Unknown', 'AttachmentDisabled', 'the volume is still attached to n1', 9),
          attachments: [on('n1')],
        }),
        released,
      ),
      heldUpBy(
        'the volume is still attached to n1',
        'when a daemon with the controller attachment runs',
        {
          since: ago(9),
        },
      ),
    ],
    [
      given(
        'a deletion of an attached Volume',
        deleted({
          phase: 'Terminating',
          ...ready('Unknown', 'Terminating', 'the volume is still attached to n1', 9),
          attachments: [on('n1', { state: 'Detaching', message: 'mounted' })],
        }),
        released,
      ),
      heldUpBy(
        'it must be detached before its storage is removed; its attachment to node n1 is Detaching: mounted',
        'after a backoff',
        { since: ago(60) },
      ),
    ],
  ]);
});

describe('the cause reported for an attachment', () => {
  const causeOf = (...attachments: Attachment[]) => whyOf(attachedAs(...attachments), bound);
  const inUse = explain('DeviceInUse', { device: '/dev/loop3', uses: 'mounted at /mnt' });

  test.each<[string, Partial<Attachment>, string]>([
    ['a device in use', inUse, 'WaitingForUnmount'],
    ['a step that failed', { message: 'x', detail: failed }, 'AttachmentFailed'],
    [
      'a step that failed, while Attaching',
      { state: 'Attaching', message: 'x', detail: failed },
      'NotAttached',
    ],
    [
      'a pause',
      explain('OperationPaused', { kind: 'Node', name: 'n1', resume: 'node n1' }),
      'Paused',
    ],
    ['a reason without a cause', explain('StillAttached'), 'AttachmentFailed'],
    ['no reason', { message: '/dev/loop3 is in use: mounted at /mnt' }, 'UnknownReason'],
    ['no reason, while Attaching', { state: 'Attaching', message: 'losetup: no' }, 'UnknownReason'],
    [
      'a reason of a later version',
      { message: 'x', detail: { code: 'Y', parameters: {} } },
      'UnknownReason',
    ],
    ['an invalid reason', { message: 'x', detail: 'DeviceInUse' as never }, 'UnknownReason'],
    [
      'no reason, while Uncertain',
      { state: 'Uncertain', message: 'no route' },
      'AttachmentUncertain',
    ],
    ['a device in use, while Uncertain', { state: 'Uncertain', ...inUse }, 'AttachmentUncertain'],
  ])('is derived from %s', (_, more, cause) => {
    expect(causeOf(on('n1', more))).toMatchObject({ cause });
  });

  test('is the reason of the node if that made the attachment Uncertain', () => {
    for (const [code, { cause }] of Object.entries<ReasonEntry>(NODES)) {
      const detail = { code, parameters: {} };
      expect(causeOf(on('n1', { state: 'Uncertain', message: 'x', detail }))).toMatchObject({
        cause: cause ?? 'AttachmentUncertain',
        ...(cause === undefined && { fix: { run: ['stowage check node n1'] } }),
      });
    }
  });

  test.each([
    ['Volume', 'stowage resume volume data1'],
    ['Node', 'stowage resume node n1'],
  ])('has a fix for a paused %s that ignores names in the status', (kind, command) => {
    const paused = explain('OperationPaused', { kind, name: '--all', resume: '--all' });
    expect(causeOf(on('n1', paused))).toMatchObject({ fix: { run: [command] } });
  });
});
