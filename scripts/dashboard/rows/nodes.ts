import type { Row } from '../panel.ts';
import { increase, latest, maximum, percentiles, perSecond } from '../queries.ts';

const PLACE = ['node', 'directory'];
const largest = (name: string, more = '') => maximum(name, PLACE, `node=~"$node"${more}`);
const size = largest('stowage_volumes_size_bytes');
const allocated = largest('stowage_directory_allocated_bytes');
const free = largest('stowage_directory_free_bytes');
/** Number of unobserved directories by node. */
export const UNSEEN_BY_NODE = `count by (node) (${largest(
  'stowage_volumes_size_bytes',
  ',directory!=""',
)} unless ${free})`;
const JOBS = 'stowage_job_duration_seconds';

export const NODES: Row = {
  title: 'Jobs and nodes',
  panels: [
    {
      shows: 'lines',
      title: 'Duration of jobs',
      description:
        'Time from submitting a job until its end is observed, without deletions. If jobs are slow, `stowage describe volume NAME` shows the progress. The line is the limit for a tenth of the jobs.',
      alerts: ['StowageJobsSlow'],
      width: 12,
      unit: 's',
      limit: 300,
      queries: percentiles(JOBS, ['kind'], 'kind!="UnprepareVolume"'),
    },
    {
      shows: 'lines',
      title: 'Duration of deletions',
      description:
        'Jobs that delete or wipe a volume. A wipe takes as long as its disk needs: nothing to do.',
      width: 12,
      unit: 's',
      queries: percentiles(JOBS, ['kind'], 'kind="UnprepareVolume"'),
    },
    {
      shows: 'areas',
      title: 'Ended jobs by result',
      description:
        'Jobs a second. `failed`: a program failed; `died`: without a result; `lost`: unknown to the node; `raced` and `guarded`: planned again because the node had changed.',
      width: 8,
      unit: 'ops',
      queries: [perSecond('stowage_jobs_total', ['result'])],
    },
    {
      shows: 'lines',
      title: 'Failed jobs within 30 minutes',
      description:
        'Jobs that failed, died or were lost. `stowage describe volume NAME` shows the event with the command and its output.',
      alerts: ['StowageJobsFail'],
      width: 8,
      unit: 'none',
      limit: 3,
      queries: [
        increase('stowage_jobs_total', '30m', ['kind', 'transport'], 'result=~"failed|died|lost"'),
      ],
    },
    {
      shows: 'lines',
      title: 'Unobserved directories by node',
      description:
        'Directories, volume groups and thin pools with Volumes that were not observed for 5 minutes. `stowage check node NAME` names the cause: network, ssh, sudo or Salt.',
      alerts: ['StowageNodeUnseen'],
      width: 8,
      unit: 'none',
      limit: 1,
      queries: [{ expr: UNSEEN_BY_NODE, legend: '{{node}}' }],
    },
    {
      shows: 'table',
      title: 'Room',
      description:
        'Directories, volume groups (`/dev/vg0`) and thin pools (`/dev/vg0/pool`) with Volumes. Raw devices have no directory. Room is unknown on nodes that were not observed.',
      width: 24,
      unit: 'bytes',
      columns: ['Size of Volumes', 'Allocated', 'Free'],
      queries: [
        latest('stowage_volumes_size_bytes', PLACE, 'node=~"$node"'),
        latest('stowage_directory_allocated_bytes', PLACE, 'node=~"$node"'),
        latest('stowage_directory_free_bytes', PLACE, 'node=~"$node"'),
      ],
    },
    {
      shows: 'lines',
      title: 'Free share where volumes can grow',
      description:
        'Free space of each directory, volume group or thin pool, relative to the free space and that of its volumes. At 0, writes of pods fail: add room, or delete volumes.',
      alerts: ['StowageDirectoryFull'],
      width: 12,
      unit: 'percentunit',
      limit: 0.05,
      lowIsBad: true,
      queries: [
        {
          expr: `${free} / (${free} + ${allocated}) and ${size} > ${allocated}`,
          legend: '{{node}} {{directory}}',
        },
      ],
    },
    {
      shows: 'lines',
      title: 'Missing room if all volumes fill up',
      description:
        'Bytes that Volumes may still need, beyond those that are free. Above 0, the directory or thin pool can run full before its volumes do: add room, or move volumes.',
      alerts: ['StowageDirectoryOverpromised'],
      width: 12,
      unit: 'bytes',
      limit: 1,
      queries: [
        {
          expr: `clamp_min(${size} - ${allocated} - ${free}, 0)`,
          legend: '{{node}} {{directory}}',
        },
      ],
    },
  ],
};
