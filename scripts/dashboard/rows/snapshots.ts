import type { Row } from '../panel.ts';
import { increase, latest, percentiles, perSecond } from '../queries.ts';

export const SNAPSHOTS: Row = {
  title: 'Snapshots',
  panels: [
    {
      shows: 'areas',
      title: 'Snapshots by state',
      description: 'VolumeSnapshotContents of Stowage. `stowage get snapshots -A` lists them.',
      width: 8,
      unit: 'none',
      queries: [latest('stowage_snapshots', ['class', 'state'])],
    },
    {
      shows: 'lines',
      title: 'Failing snapshots',
      description:
        'Snapshots that cannot be created or deleted. `stowage why snapshot NAMESPACE/NAME` names the fix.',
      alerts: ['StowageSnapshotsFailing'],
      width: 8,
      unit: 'none',
      limit: 1,
      queries: [latest('stowage_snapshots', ['class'], 'state="failing"')],
    },
    {
      shows: 'areas',
      title: 'Ended operations',
      description: 'Snapshots created and deleted a second, and failed jobs for them.',
      width: 8,
      unit: 'ops',
      queries: [perSecond('stowage_snapshot_operations_total', ['operation', 'result'])],
    },
    {
      shows: 'lines',
      title: 'Failed jobs within 30 minutes',
      description:
        'Copies fail on nodes: writes would have been frozen for too long, room is missing, or the node changed. The VolumeSnapshot has the last error.',
      alerts: ['StowageSnapshotJobsFail'],
      width: 12,
      unit: 'none',
      limit: 3,
      queries: [
        increase(
          'stowage_snapshot_operations_total',
          '30m',
          ['operation', 'class'],
          'result="failed"',
        ),
      ],
    },
    {
      shows: 'lines',
      title: 'Duration of operations',
      description:
        'Time from the request for a snapshot, or for its deletion, to its end. Without clones of files, a snapshot copies all data. The line is the limit for a tenth of them.',
      alerts: ['StowageSnapshotsSlow'],
      width: 12,
      unit: 's',
      limit: 300,
      queries: percentiles(
        'stowage_snapshot_operation_seconds',
        ['operation', 'class'],
        'result="succeeded"',
      ),
    },
  ],
};
