import { describe } from '@jest/globals';
import { ago, attachmentOn as on } from '../../support/cluster-objects.ts';
import {
  attachedAs,
  attaching,
  bound,
  deleted,
  given,
  heldUpBy,
  type Row,
  ready,
  released,
  testRows,
  volume,
} from './volume-diagnosis.ts';

const uncertain = (message: string) => attachedAs(on('n1', { state: 'Uncertain', message }));

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
      heldUpBy('AttachVolume (attempt 1) is under way on node n1: attach', 'job has ended', {
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
      heldUpBy('AttachVolume (attempt 1) is under way', 'job has ended', { since: ago(9) }),
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
        attaching(on('n1', { state: 'Attaching', safeToMount: false, message: 'losetup: no' })),
        bound,
      ),
      heldUpBy('its attachment to node n1 is Attaching: losetup: no', 'after a delay', {
        since: ago(60),
        say: 'Put right what the message names.',
      }),
    ],
    [
      given(
        'a detach whose job runs',
        attachedAs(on('n1', { state: 'Detaching', message: 'its job is under way: write back' })),
        bound,
      ),
      heldUpBy(
        'its attachment to node n1 is Detaching: its job is under way: write back',
        'after a delay',
        {
          since: ago(60),
          say: 'such as a file server that does not answer',
          run: ['ssh n1 ps axl'],
        },
      ),
    ],
    [
      given(
        'an attach that waits for others',
        attaching(on('n1', { state: 'Attaching', message: 'waits until others have ended' })),
        bound,
      ),
      heldUpBy(
        'its attachment to node n1 is Attaching: waits until others have ended',
        'after a delay',
        {
          since: ago(60),
          say: 'See what the others wait for',
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
        'Uncertain, which counts as attached until the node was looked at: no route',
        'after a delay',
        {
          since: ago(60),
          say: 'Only if the machine is dead, and switched off, have it let go: stowage detach volume data1 --node n1 --force',
          run: ['ssh n1 true'],
        },
      ),
    ],
    ...(
      [
        [
          '/dev/loop3 goes with its last user',
          'End what still uses the device there',
          'losetup -l',
        ],
        [
          'a job of this Volume still runs on node n1',
          'See what the programs there wait for',
          'ps axl',
        ],
        [
          "'/srv/v' is on /, which is of type ext4: wanted is an NFS 4 mount",
          'Put right what',
          'findmnt',
        ],
      ] as const
    ).map(
      ([message, say, look]): Row => [
        given(
          `an uncertain attachment, by a node that answered: ${message}`,
          uncertain(message),
          bound,
        ),
        heldUpBy(message, 'after a delay', { since: ago(60), say, run: [`ssh n1 ${look}`] }),
      ],
    ),
    [
      given(
        'an uncertain attachment without a message',
        attachedAs(on('n1', { state: 'Uncertain' })),
        bound,
      ),
      heldUpBy('its attachment to node n1 is Uncertain', 'after a delay', { since: ago(60) }),
    ],
    [
      given(
        'a detach that is held up by pods',
        attachedAs(on('n1', { state: 'Detaching', message: 'mounted', pods: ['db/x'] })),
        bound,
      ),
      heldUpBy('its attachment to node n1 is Detaching: mounted', 'after a delay', {
        since: ago(60),
        say: 'pods that need it on node n1: db/x',
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
      heldUpBy('switched off', 'when a daemon runs that has', {
        since: ago(9),
        run: ['--controllers', '*'],
      }),
    ],
    [
      given(
        'a deletion with a disabled attachment controller',
        deleted({
          phase: 'Terminating',
          ...ready('Unknown', 'AttachmentDisabled', 'is still attached on n1', 9),
          attachments: [on('n1')],
        }),
        released,
      ),
      heldUpBy('is still attached on n1', 'when a daemon runs that has', { since: ago(9) }),
    ],
    [
      given(
        'a deletion of an attached Volume',
        deleted({
          phase: 'Terminating',
          ...ready('Unknown', 'Terminating', 'is still attached on n1', 9),
          attachments: [on('n1', { state: 'Detaching', message: 'mounted' })],
        }),
        released,
      ),
      heldUpBy(
        'it is to be detached before its storage is removed; its attachment to node n1 is Detaching: mounted',
        'after a delay',
        { since: ago(60) },
      ),
    ],
  ]);
});
