import type { Row } from '../panel.ts';
import { latest, maximum, rate, series } from '../queries.ts';
import { UNSEEN_BY_NODE } from './nodes.ts';

const total = (state: string) =>
  maximum(
    'attachdetach_controller_total_volumes',
    [],
    `plugin_name="volume.stowage.dev",state="${state}_state_of_world"`,
  );
/** Counts daemons, and is 0 without any. */
const daemonsWith = (name: string) => `count(count by (instance) (${series(name)})) or vector(0)`;

export const OVERVIEW: Row = {
  title: 'Overview',
  panels: [
    {
      shows: 'number',
      title: 'Daemons',
      description:
        'Daemons that Prometheus scrapes, leading or standing by. At 0, nothing is provisioned, attached or deleted: check whether one runs.',
      alerts: ['StowageDaemonAbsent'],
      width: 4,
      unit: 'none',
      limit: 1,
      lowIsBad: true,
      queries: [{ expr: daemonsWith('stowage_informer_age_seconds'), legend: '' }],
    },
    {
      shows: 'number',
      title: 'Leaders',
      description:
        'Daemons whose controllers run: one, or one for each daemon with `--transport local`. At 0, no daemon leads: run `stowage check cluster`.',
      width: 4,
      unit: 'none',
      limit: 1,
      lowIsBad: true,
      queries: [{ expr: daemonsWith('stowage_queue_depth'), legend: '' }],
    },
    {
      shows: 'number',
      title: 'Silence of the API server',
      description:
        'Time since the last event or bookmark of the most silent resource. The API server sends one about every minute: check the network and both logs.',
      alerts: ['StowageDaemonDeaf'],
      width: 4,
      unit: 's',
      limit: 180,
      queries: [{ expr: maximum('stowage_informer_age_seconds'), legend: '' }],
    },
    {
      shows: 'number',
      title: 'Failed Volumes',
      description:
        'Volumes whose provisioning failed, or whose device is missing. `stowage get volumes` lists them, `stowage why volume NAME` names the fix.',
      alerts: ['StowageVolumesFailed'],
      width: 4,
      unit: 'none',
      limit: 1,
      queries: [{ expr: maximum('stowage_volumes', [], 'phase="Failed"'), legend: '' }],
    },
    {
      shows: 'number',
      title: 'Missing attachments',
      description:
        'Attachments that pods need beyond those that exist. `stowage why pod NAMESPACE/NAME` names the cause.',
      alerts: ['StowageNotAttached'],
      width: 4,
      unit: 'none',
      limit: 1,
      queries: [{ expr: `clamp_min(${total('desired')} - ${total('actual')}, 0)`, legend: '' }],
    },
    {
      shows: 'number',
      title: 'Unobserved nodes',
      description:
        'Nodes with Volumes whose directories were not observed for 5 minutes. `stowage get nodes` lists them, `stowage check node NAME` names the cause.',
      alerts: ['StowageNodeUnseen'],
      width: 4,
      unit: 'none',
      limit: 1,
      queries: [{ expr: `count(${UNSEEN_BY_NODE}) or vector(0)`, legend: '' }],
    },
    {
      shows: 'areas',
      title: 'Volumes by phase',
      description:
        'Unknown are those that no daemon has observed. If Pending or Terminating Volumes stay, run `stowage why --all`.',
      width: 12,
      unit: 'none',
      queries: [latest('stowage_volumes', ['phase'])],
    },
    {
      shows: 'lines',
      title: 'Errors',
      description:
        'Failures a second of each kind of work. The rows below divide each kind by its cause.',
      width: 12,
      unit: 'ops',
      queries: [
        { expr: rate('stowage_reconciles_total', [], 'result="error"'), legend: 'reconciles' },
        {
          expr: rate('stowage_jobs_total', [], 'result=~"failed|died|lost"'),
          legend: 'jobs on nodes',
        },
        {
          expr: rate(
            'storage_operation_duration_seconds_count',
            [],
            'volume_plugin="volume.stowage.dev",status!="success"',
          ),
          legend: 'attach and detach',
        },
        {
          expr: rate('stowage_api_calls_total', [], 'code=~"5..|none|401|403"'),
          legend: 'API requests',
        },
      ],
    },
  ],
};
