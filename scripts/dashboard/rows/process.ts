import type { Panel, Row } from '../panel.ts';
import { latest, perSecond, type Query, series } from '../queries.ts';

/** Series that each process has its own of. */
const INSTANCE = ['instance'];
const named = (query: Query, name: string): Query => ({
  ...query,
  legend: `${query.legend} ${name}`,
});
const small = (panel: Omit<Panel, 'shows' | 'width'>): Panel => ({
  shows: 'lines',
  width: 8,
  ...panel,
});

export const PROCESS: Row = {
  title: 'Process',
  panels: [
    small({
      title: 'Memory',
      description:
        'Resident memory and the heap in use. Both grow with the number of Volumes, pods and claims; if they grow without them, restart the daemon.',
      unit: 'bytes',
      queries: [
        named(latest('process_resident_memory_bytes', INSTANCE), 'resident'),
        named(latest('nodejs_heap_size_used_bytes', INSTANCE), 'heap'),
      ],
    }),
    small({
      title: 'CPU',
      description: 'Processor time; 100 % is one processor. One thread runs all controllers.',
      unit: 'percentunit',
      queries: [perSecond('process_cpu_seconds_total', INSTANCE)],
    }),
    small({
      title: 'Event loop lag',
      description:
        'Delay of the event loop. Beyond a second, renewals of the Lease come late: give the daemon more processor time.',
      unit: 's',
      queries: [
        named(latest('nodejs_eventloop_lag_p50_seconds', INSTANCE), 'p50'),
        named(latest('nodejs_eventloop_lag_p99_seconds', INSTANCE), 'p99'),
      ],
    }),
    small({
      title: 'Garbage collection',
      description: 'Share of time. If it is high, give the daemon more memory.',
      unit: 'percentunit',
      queries: [perSecond('nodejs_gc_duration_seconds_sum', INSTANCE)],
    }),
    small({
      title: 'Open files',
      description: 'Open file descriptors, and their limit. Each connection of ssh has some.',
      unit: 'none',
      queries: [
        named(latest('process_open_fds', INSTANCE), 'open'),
        named(latest('process_max_fds', INSTANCE), 'limit'),
      ],
    }),
    small({
      title: 'Restarts within an hour',
      description:
        'Starts of the process behind an address. A daemon that loses its Lease ends with status 1, and is restarted: its log has the reason.',
      unit: 'none',
      queries: [
        {
          expr: `sum by (instance) (changes(${series('process_start_time_seconds')}[1h]))`,
          legend: '{{instance}}',
        },
      ],
    }),
  ],
};
