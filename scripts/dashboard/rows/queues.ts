import type { Row } from '../panel.ts';
import { latest, percentiles, perSecond, rate } from '../queries.ts';

const FAILED = 'code=~"5..|none|401|403"';

export const QUEUES: Row = {
  title: 'Queues and API requests',
  panels: [
    {
      shows: 'lines',
      title: 'Queue depth',
      description:
        'Objects that wait to be reconciled, by controller. Right after a start of the daemon, many are normal.',
      alerts: ['StowageQueueGrows'],
      width: 8,
      unit: 'none',
      limit: 1000,
      queries: [latest('stowage_queue_depth', ['controller'])],
    },
    {
      shows: 'lines',
      title: 'Age of the oldest object in the queue',
      description:
        'Time that an object has waited for its reconcile. `stowage get nodes` shows a slow node; if all nodes are busy, raise `--workers`.',
      alerts: ['StowageQueueWaits'],
      width: 8,
      unit: 's',
      limit: 600,
      queries: [latest('stowage_queue_oldest_age_seconds', ['controller'])],
    },
    {
      shows: 'lines',
      title: 'Additions and retries',
      description:
        'Objects a second that enter the queue, and those of them that are retried with backoff. If most are retries, nodes do not answer, jobs fail, or room is missing.',
      alerts: ['StowageReconcilesRepeat'],
      width: 8,
      unit: 'ops',
      queries: [
        {
          ...perSecond('stowage_queue_adds_total', ['controller']),
          legend: '{{controller}} added',
        },
        {
          ...perSecond('stowage_queue_retries_total', ['controller']),
          legend: '{{controller}} retried',
        },
      ],
    },
    {
      shows: 'areas',
      title: 'Reconciles by result',
      description:
        'Reconciles a second. `requeue-after`: again after a given time; `retry` and `error`: again with backoff. The log has errors with their object.',
      width: 8,
      unit: 'ops',
      queries: [perSecond('stowage_reconciles_total', ['result'])],
    },
    {
      shows: 'lines',
      title: 'Share of reconciles with an error',
      description:
        'Reconciles that end with an unexpected error. The log has them with their object (`"level":"error"`).',
      alerts: ['StowageReconcilesFail'],
      width: 8,
      unit: 'percentunit',
      limit: 0.2,
      queries: [
        {
          expr: `${rate('stowage_reconciles_total', ['controller'], 'result="error"')} / ${rate('stowage_reconciles_total', ['controller'])}`,
          legend: '{{controller}}',
        },
      ],
    },
    {
      shows: 'lines',
      title: 'Duration of reconciles',
      description:
        'With waits for nodes and the API server. If nodes answer slowly, `stowage get nodes` shows them. The line is the limit for a tenth of the reconciles.',
      alerts: ['StowageReconcilesSlow'],
      width: 8,
      unit: 's',
      limit: 30,
      queries: percentiles('stowage_reconcile_duration_seconds', ['controller']),
    },
    {
      shows: 'lines',
      title: 'API requests',
      description: 'Requests a second to the API server. `--kube-api-qps` limits them.',
      width: 8,
      unit: 'reqps',
      queries: [perSecond('stowage_api_calls_total', ['verb'])],
    },
    {
      shows: 'lines',
      title: 'Share of failed API requests',
      description:
        'Requests that end with 5xx, 401, 403, or without an answer. 401: the token has expired; 403: run `stowage install --components rbac`.',
      alerts: ['StowageApiCallsFail'],
      width: 8,
      unit: 'percentunit',
      limit: 0.1,
      queries: [
        {
          expr: `${rate('stowage_api_calls_total', ['verb', 'resource'], FAILED)} / ${rate('stowage_api_calls_total', ['verb', 'resource'])}`,
          legend: '{{verb}} {{resource}}',
        },
      ],
    },
    {
      shows: 'lines',
      title: 'Duration of API requests',
      description:
        'Time until an answer begins, without watches. If the daemon itself overloads the API server, lower `--kube-api-qps`. The line is the limit for a tenth of the requests.',
      alerts: ['StowageApiCallsSlow'],
      width: 8,
      unit: 's',
      limit: 2,
      queries: percentiles('stowage_api_call_duration_seconds', ['verb'], 'verb!="watch"'),
    },
    {
      shows: 'lines',
      title: 'API answers that are errors',
      description:
        'Answers a second with a status of 400 or more, and requests without an answer (`none`). 404, 409 and 410 are normal; 429: the API server limits the daemon.',
      width: 12,
      unit: 'reqps',
      queries: [perSecond('stowage_api_calls_total', ['verb', 'code'], 'code=~"4..|5..|none"')],
    },
    {
      shows: 'lines',
      title: 'Silence of the API server by resource',
      description:
        'Time since the last event or bookmark of each resource. `/readyz` fails at the limit: check the network and both logs.',
      alerts: ['StowageDaemonDeaf'],
      width: 12,
      unit: 's',
      limit: 180,
      queries: [latest('stowage_informer_age_seconds', ['resource'])],
    },
  ],
};
