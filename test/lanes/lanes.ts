/**
 * A lane of the suite, which runs each file in a process of its own. docs/testing.md describes
 * them.
 */

export interface Lane {
  projects: readonly ('integration' | 'thorough' | 'fuzz' | 'cluster')[];
  /** Default: every file of the projects. */
  only?: RegExp;
  /** Environment of its tests. Variables that are already set take precedence. */
  env?: Readonly<Record<string, string>>;
  /** Number of files that run concurrently. Default: two for each processor. */
  workers?: number;
  /**
   * Reports whether a file is in the group of which at most one runs at a time, concurrently with
   * others.
   */
  isSerial?(file: string): boolean;
  /** Files to start first: the longest ones, so that none runs alone at the end. */
  first?: readonly string[];
  /** Files to run last and one by one, as they measure time. */
  alone?: RegExp;
}

const CLUSTER: Lane = {
  projects: ['cluster'],
  workers: 2,
  // The other files make this machine a node, or use its loop devices.
  isSerial: (file) => !/^test\/cluster\/(api-server|cache|vm\/.*|salt\/.*logins)\./.test(file),
};

/** Files that measure time. */
const MEASURE = /\/(away|packet-loss|freeze|freeze-daemon)\./;

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
    alone: MEASURE,
  },
  fuzz: { projects: ['fuzz'] },
  smoke: {
    ...CLUSTER,
    only: /\/(api-server|rbac\/|kubelet\/pods|salt\/(logins|refusals|kinds)|vm\/smoke)/,
  },
  cluster: CLUSTER,
  faults: {
    projects: ['integration', 'thorough'],
    only: /\/(faults|crash|freeze-daemon|packet-loss|metrics|volume(-kinds)?\.|daemon\/((attachment|claim|populators)-crash|populators-orders))/,
    first: ['faults-daemon', 'faults', 'attachment-crash', 'crash', 'volume-kinds'],
    alone: MEASURE,
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
export const needsBuild = (lane: string): boolean =>
  LANES[lane]?.projects.includes('cluster') ?? false;

/** A lane or `unit`, and a pattern of its files' paths. Without a pattern: all files. */
export type Ask = readonly [lane: string, pattern?: string];

/**
 * Lanes that a change below a directory requires, in addition to the checks and the unit tests that
 * reach it (see unit-tests.ts). The first matching row counts. A changed test requires itself (see
 * choose). The thorough lane also runs the integration tests.
 */
export const ASKS: readonly (readonly [directory: string, ...asks: Ask[]])[] = [
  ['src/nodes/transport/salt/', ['thorough', 'salt'], ['cluster', '/salt/']],
  ['salt/', ['thorough', 'salt|ssh-guard'], ['cluster', '/salt/']],
  ['src/nodes/scripts/', ['thorough'], ['smoke'], ['faults', '/crash\\.|/faults\\.'], ['fuzz']],
  ['src/nodes/', ['thorough'], ['smoke']],
  [
    'src/storage/lvm/',
    ['thorough', 'lvm|plans|salt-commands'],
    ['cluster', '/vm/(lvm|kinds|snapshots|fills|holders|adopt)'],
  ],
  [
    'src/storage/snapshot/',
    [
      'thorough',
      'snapshot|freeze|claim|backup|xfs-uuid|archive|image|adopt|salt-commands|grow-script|sudoers|other-programs',
    ],
    ['cluster', 'snapshots|claims|/vm/lvm'],
  ],
  [
    'src/storage/shared-fs/',
    ['thorough', 'shared|attach|adopt|salt-commands'],
    ['cluster', '/vm/shared'],
  ],
  ['src/storage/populate/', ['thorough'], ['smoke'], ['cluster', 'populators|fills|sources']],
  ['src/storage/scripts/', ['thorough'], ['smoke'], ['cluster', '/vm/(lvm|snapshots|adopt|fills)']],
  ['src/storage/block/', ['thorough'], ['smoke'], ['cluster', '/vm/(disk-identity|holders|adopt)']],
  [
    'src/storage/links.ts',
    ['thorough'],
    ['smoke'],
    ['cluster', '/vm/(stolen-path|upgrade|shared-files)'],
  ],
  ['src/storage/udev.ts', ['thorough'], ['smoke'], ['cluster', '/vm/(stolen-path|upgrade)']],
  ['src/storage/device.ts', ['thorough'], ['smoke'], ['cluster', '/vm/(upgrade|fills|adopt|lvm)']],
  ['src/storage/device-identity.ts', ['thorough'], ['smoke'], ['cluster', '/vm/disk-identity']],
  ['src/storage/records.ts', ['thorough'], ['smoke'], ['cluster', '/vm/(faults|reboot)']],
  ['src/storage/holders.ts', ['thorough'], ['smoke'], ['cluster', '/vm/holders']],
  [
    'src/storage/',
    ['thorough'],
    ['smoke'],
    ['cluster', '/vm/(shared-files|adopt|lvm-groups|snapshots)'],
  ],
  [
    'src/controllers/attachdetach/',
    ['thorough', 'attach|detailed|/used'],
    ['cluster', '/vm/(shared|pods|reboot)|on-demand'],
  ],
  [
    'src/controllers/populator/',
    ['thorough', 'populat|image|archive|fill'],
    ['cluster', 'populators|fills|sources'],
  ],
  [
    'src/controllers/data-source-validator/',
    ['thorough', 'populat|image|archive|fill'],
    ['cluster', 'populators|fills|sources'],
  ],
  ['src/controllers/volume/', ['thorough'], ['smoke']],
  // Most controllers import it.
  ['src/controllers/lib/', ['thorough'], ['cluster', 'claims|snapshots']],
  [
    'src/controllers/',
    ['thorough', 'claim|snapshot|backup|freeze|room|/directory|install/uninstall'],
    ['cluster', 'claims|snapshots'],
  ],
  ['src/model/', ['thorough'], ['smoke'], ['cluster', 'claims|snapshots|populators|fills|sources']],
  ['src/workqueue/', ['thorough'], ['smoke']],
  ['src/manager/', ['thorough'], ['smoke']],
  [
    'src/kube/',
    ['integration'],
    ['thorough', 'leader-stopped|packet-loss|metrics'],
    ['cluster', 'api-server|rbac|outages'],
  ],
  [
    'src/sandbox/',
    ['thorough', 'sandbox|kubectl|kep|completion|wizard|volume-controller|/ui[.-]'],
    ['smoke', 'api-server'],
  ],
  ['src/api/', ['integration'], ['smoke']],
  [
    'src/cli/install/metalk8s/',
    ['integration'],
    ['thorough', 'cli|docs|metalk8s'],
    ['cluster', 'vm/metalk8s'],
  ],
  ['src/cli/install/', ['thorough', 'install|docs|metalk8s'], ['cluster', 'install|rbac']],
  ['src/cli/ui/', ['integration', 'cli|docs|completion|/ui\\.'], ['thorough', '/ui[.-]|docs']],
  [
    'src/cli/lib/wizard/',
    ['integration'],
    ['thorough', 'cli|wizard|docs'],
    ['cluster', '/vm/wizard'],
  ],
  ['src/cli/top/', ['integration'], ['thorough', 'docs'], ['cluster', '/vm/top']],
  [
    'src/cli/',
    ['integration'],
    ['thorough', 'cli|why|wizard|completion|docs|node-check|populators-manual|/ui-'],
  ],
  [
    'src/ui/',
    ['unit', '^test/(ui|cli/ui)/'],
    ['thorough', '/ui[.-]'],
    ['integration', 'package|/ui\\.'],
  ],
  ['src/', ['integration']],
  [
    'deploy/',
    ['thorough', 'install|sudo|docs|package|promtool|alerts|dashboard|salt'],
    ['cluster', 'install|rbac|/vm/lvm'],
  ],
  ['docs/decisions/'],
  ['docs/installing.md', ['thorough', 'docs|package'], ['cluster', 'install']],
  ['docs/terminal.svg', ['thorough', 'picture']],
  ['docs/metrics.md', ['thorough', 'docs|promtool|metrics']],
  ['docs/', ['thorough', 'docs|alerts|populators-manual']],
  ['README.md', ['integration', 'docs|package']],
  ['man/', ['integration', 'completion|package']],
  ['completions/', ['integration', 'completion|package']],
  ['bin/', ['unit', '^test/bin/'], ['integration', 'launcher|package|completion']],
  ['test/support/', ['thorough'], ['smoke']],
  ['test/lanes/', ['integration']],
  ['test/salt/', ['integration', 'salt-']],
  ['test/api-server/', ['thorough', 'sandbox|kubectl|kep'], ['cluster', 'api-server|rbac']],
  ['test/kep/', ['integration', 'kep|docs'], ['cluster', '/kep']],
  ['test/cluster/vm/', ['smoke'], ['cluster', '/vm/']],
  ['test/cluster/install/', ['cluster', '/install/']],
  ['test/cluster/outages/', ['cluster', '/outages/']],
  ['test/cluster/salt/', ['cluster', '/salt/']],
  ['test/cluster/', ['smoke']],
  ['test/fuzz/', ['fuzz']],
  ['package', ['unit'], ['integration'], ['thorough', 'release|docs-d'], ['smoke']],
  ['changes/template.md', ['thorough', 'release']],
  ['towncrier.toml', ['thorough', 'release']],
  ['scripts/version.sh', ['thorough', 'release']],
  [
    'scripts/',
    ['unit', 'bundle'],
    ['integration', 'package|launcher|docs|dashboard|salt-commands'],
  ],
  ['jest.config.js', ['unit'], ['integration']],
];
