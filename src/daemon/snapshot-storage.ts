import type { ExecutorWorkDeps } from '../provisioning/snapshots/executor-work.ts';

/** What storage knows of snapshots, as the work on nodes asks for it. */
export const snapshotStorage: Pick<ExecutorWorkDeps<object, object>, 'storage' | 'wantedOf'> = {
  storage: {
    probes: () => [],
    read: () => ({}),
    plan: () => ({ refusal: 'not yet', hint: '' }),
    copyOf: () => undefined,
  },
  wantedOf: () => ({ problem: 'this version takes no snapshots yet' }),
};
