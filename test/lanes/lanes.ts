/** The lanes of the suite that run files in processes of their own. docs/testing.md describes them. */

export interface Lane {
  projects: readonly ('integration' | 'thorough' | 'cluster')[];
  /** Default: every file of the projects. */
  only?: RegExp;
  /** Set for its tests, where the environment has no value of its own. */
  env?: Readonly<Record<string, string>>;
  /** Number of files that run at the same time. Default: two for each processor. */
  workers?: number;
  /** Selects files that exclude each other; at most one of them runs, beside the rest. */
  isSerial?(file: string): boolean;
  /** Started first: the longest files, so that none is left running alone at the end. */
  first?: readonly string[];
  /** Run last, with nothing beside them, for they measure time. */
  alone?: RegExp;
}

const CLUSTER: Lane = {
  projects: ['cluster'],
  workers: 2,
  // The other files make this machine a node, or use its loop devices.
  isSerial: (file) => !/^test\/cluster\/(api-server|cache|vm\/.*|salt\/.*logins)\./.test(file),
};

export const LANES: Readonly<Record<string, Lane>> = {
  integration: {
    projects: ['integration'],
    first: [
      'refusals',
      'sudo-lives',
      'sparse',
      'volume-kinds',
      'kinds',
      'crash',
      'watch',
      'used-between',
      'volume',
    ],
  },
  thorough: {
    projects: ['integration', 'thorough'],
    env: { STOWAGE_EVERY_CASE: '1' },
    first: ['faults', 'kinds', 'sudo-lives', 'freeze', 'faults-daemon', 'volume', 'refusals'],
    alone: /\/(away|packet-loss|freeze|freeze-daemon)\./,
  },
  smoke: { ...CLUSTER, only: /\/(api-server|rbac\/|kubelet\/pods|salt\/(logins|refusals|kinds)|vm\/smoke)/ },
  cluster: CLUSTER,
  faults: {
    projects: ['integration', 'thorough'],
    only: /\/(faults|crash|freeze-daemon|packet-loss|metrics|volume|daemon\/((attachment|claim)-crash|populators-orders))/,
    env: { STOWAGE_FAULTS: '200' },
  },
  outages: {
    ...CLUSTER,
    only: /\/(rbac|outages|salt\/(outages|kinds))/,
    env: { STOWAGE_FAULTS: '200' },
  },
  'power-cuts': {
    ...CLUSTER,
    only: /\/vm\/faults/,
    env: { STOWAGE_FAULTS: '200', STOWAGE_POWER_CUTS: '20' },
  },
};

/** Lanes that need real Kubernetes, Salt and nodes, which are built first. */
export const needsBuild = (lane: string): boolean => LANES[lane]?.projects.includes('cluster') ?? false;

/** A lane, and of its files those whose path matches; all without a pattern. */
export type Ask = readonly [lane: string, pattern?: string];

/**
 * Lanes that a change below a directory asks for, beside the checks and the unit tests that reach it. The first row that matches
 * a file counts. A changed test asks for itself (see choose).
 */
export const ASKS: readonly (readonly [directory: string, ...asks: Ask[]])[] = [
  ['src/nodes/salt/', ['integration', 'salt'], ['thorough', 'salt'], ['cluster', '/salt/']],
  ['salt/', ['integration', 'salt'], ['thorough', 'salt'], ['cluster', '/salt/']],
  ['src/nodes/', ['integration'], ['thorough'], ['smoke']],
  [
    'src/storage/lvm/',
    ['integration', 'lvm|plans'],
    ['thorough', 'lvm|plans'],
    ['cluster', '/vm/(lvm|kinds|snapshots|fills|adopt)'],
  ],
  [
    'src/storage/snapshot/',
    ['integration', 'snapshot|freeze|claims|backup'],
    ['thorough', 'snapshot|freeze|claim'],
    ['cluster', 'snapshots|claims'],
  ],
  [
    'src/storage/shared/',
    ['integration', 'shared|attach'],
    ['thorough', 'shared|attach'],
    ['cluster', '/vm/shared'],
  ],
  ['src/storage/', ['integration'], ['thorough'], ['smoke']],
  [
    'src/attachment/',
    ['integration', 'attach|detailed|used'],
    ['thorough', 'attach|detailed|used'],
    ['cluster', 'vm/shared|on-demand'],
  ],
  [
    'src/provisioning/',
    ['integration', 'claim|snapshot|backup|freeze'],
    ['thorough', 'claim|snapshot|backup|freeze'],
    ['cluster', 'claims|snapshots'],
  ],
  [
    'src/population/',
    ['integration', 'populat|image|archive|fill'],
    ['thorough', 'populat|image|archive|fill'],
    ['cluster', 'populators|fills|sources'],
  ],
  ['src/volumes/', ['integration'], ['thorough'], ['smoke']],
  ['src/control/', ['integration', 'daemon|watch|volume'], ['thorough'], ['smoke']],
  ['src/daemon/', ['integration', 'daemon|watch|metrics|alerts'], ['thorough'], ['smoke']],
  ['src/kube/', ['integration'], ['cluster', 'api-server|rbac|outages']],
  ['src/sandbox/', ['integration', 'sandbox|kubectl|kep'], ['smoke', 'api-server']],
  ['src/api/', ['integration'], ['smoke']],
  [
    'src/cli/install/',
    ['integration', 'install|docs|take-over'],
    ['thorough', 'install|take-over'],
    ['cluster', 'install|rbac'],
  ],
  ['src/cli/', ['integration'], ['thorough', 'cli|why|wizard|completion|docs']],
  ['src/', ['integration']],
  [
    'deploy/',
    ['integration', 'install|sudo|docs|package|promtool|alerts|salt'],
    ['thorough', 'install|sudo|salt'],
    ['cluster', 'install|rbac'],
  ],
  ['docs/decisions/'],
  ['docs/', ['integration', 'docs']],
  ['README.md', ['integration', 'docs']],
  ['man/', ['integration', 'completion|package']],
  ['completions/', ['integration', 'completion|package']],
  ['bin/', ['integration', 'launcher|package']],
  ['test/support/', ['integration'], ['thorough'], ['smoke']],
  ['test/lanes/', ['integration']],
  ['test/cluster/', ['smoke']],
  ['package', ['integration', 'package|launcher'], ['smoke']],
  ['scripts/', ['integration', 'package|launcher|docs']],
  ['jest.config.js', ['integration']],
];
