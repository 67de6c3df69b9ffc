import type { Row } from '../panel.ts';
import { increase, latest, percentiles, perSecond } from '../queries.ts';

/** Matcher that leaves out the operations of kube-controller-manager. */
const OURS = 'volume_plugin="volume.stowage.dev"';
const OPERATIONS = 'storage_operation_duration_seconds';

export const ATTACHMENTS: Row = {
  title: 'Attach and detach',
  panels: [
    {
      shows: 'lines',
      title: 'Duration of operations',
      description:
        'Time that attaching, detaching and verifying take, with failures. If it grows, nodes are slow or unreachable: run `stowage get nodes`.',
      width: 12,
      unit: 's',
      queries: percentiles(OPERATIONS, ['operation_name'], OURS),
    },
    {
      shows: 'areas',
      title: 'Ended operations',
      description:
        'Operations a second by status. `stowage get attachments -o wide` shows the message of a failure.',
      width: 12,
      unit: 'ops',
      queries: [perSecond(`${OPERATIONS}_count`, ['operation_name', 'status'], OURS)],
    },
    {
      shows: 'lines',
      title: 'Running operations',
      description: 'Operations that run now. Each node has `--workers` workers.',
      width: 6,
      unit: 'none',
      queries: [latest('stowage_attachment_operations', ['kind'], 'state="running"')],
    },
    {
      shows: 'lines',
      title: 'Waiting operations',
      description:
        'Operations without a worker, as after a drain, or when a node is back. If nodes answer, this ends by itself.',
      alerts: ['StowageAttachmentsWait'],
      width: 6,
      unit: 'none',
      limit: 100,
      queries: [latest('stowage_attachment_operations', ['kind'], 'state="waiting"')],
    },
    {
      shows: 'lines',
      title: 'Age of the oldest operation',
      description:
        'Time since the oldest running or waiting operation was requested. `stowage get attachments -o wide` shows the operation, and its obstacle.',
      alerts: ['StowageAttachmentStuck'],
      width: 12,
      unit: 's',
      limit: 600,
      queries: [latest('stowage_attachment_operation_oldest_age_seconds', ['kind'])],
    },
    {
      shows: 'lines',
      title: 'Failed operations within 30 minutes',
      description:
        'Attaching, detaching or verifying failed. Pods have the event `FailedAttachVolume`; `stowage get attachments -o wide` shows the message.',
      alerts: ['StowageAttachFails'],
      width: 8,
      unit: 'none',
      limit: 3,
      queries: [
        increase(`${OPERATIONS}_count`, '30m', ['operation_name'], `${OURS},status!="success"`),
      ],
    },
    {
      shows: 'lines',
      title: 'Desired and actual attachments',
      description:
        'Attachments that pods need, and those that exist or are uncertain. If desired ones stay above, run `stowage why pod NAMESPACE/NAME`.',
      alerts: ['StowageNotAttached'],
      width: 8,
      unit: 'none',
      queries: [
        latest(
          'attachdetach_controller_total_volumes',
          ['state'],
          'plugin_name="volume.stowage.dev"',
        ),
      ],
    },
    {
      shows: 'lines',
      title: 'Forced detaches within 15 minutes',
      description:
        'Volumes force-detached without verification, apart from those ordered by `stowage detach volume --force`. Make sure that the machine is off: docs/lost-nodes.md.',
      alerts: ['StowageForcedDetach'],
      width: 8,
      unit: 'none',
      limit: 1,
      queries: [
        increase(
          'attach_detach_controller_attachdetach_controller_forced_detaches',
          '15m',
          ['reason'],
          'reason!="ordered"',
        ),
      ],
    },
  ],
};
