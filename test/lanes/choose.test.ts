import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { choose, laneFiles } from './choose.ts';
import { ASKS, LANES } from './lanes.ts';

const TESTS = globSync('test/**/*.test.ts').sort();
const chosen = (...changed: string[]) => choose(changed, TESTS);
const lanesOf = (...changed: string[]) => chosen(...changed).map(({ lane }) => lane);
const filesOf = (...changed: string[]) => chosen(...changed).flatMap(({ files }) => files);

describe('choose', () => {
  test('chooses no lane for a file that only checks and unit tests cover', () => {
    expect(chosen('docs/decisions/0001-a.md', 'CHANGELOG.md', 'test/storage/plan.test.ts')).toEqual(
      [],
    );
  });

  test('chooses a whole lane if one of the files requires it', () => {
    const [first, second] = ['src/nodes/transport/salt/login.ts', 'src/nodes/job.ts'];
    expect(chosen(first, second).map(({ files, ...rest }) => rest)).toEqual([
      { lane: 'thorough', patterns: [], because: [first, second] },
      { lane: 'smoke', patterns: [], because: [second] },
      { lane: 'cluster', patterns: ['/salt/'], because: [first] },
    ]);
  });

  test('takes the first row that matches a file', () => {
    expect(lanesOf('src/cli/install/rbac.ts')).toContain('cluster');
    expect(lanesOf('src/cli/program.ts')).not.toContain('cluster');
  });

  test.each([
    ['test/integration/jobs.test.ts', 'thorough'],
    ['test/thorough/faults.test.ts', 'thorough'],
    ['test/cluster/vm/lvm.test.ts', 'cluster'],
  ])('runs the changed test %s in the lane %s', (file, lane) => {
    expect(chosen(file)).toMatchObject([{ lane, files: [file], because: [file] }]);
  });

  test('leaves out a deleted test', () => {
    expect(chosen('test/integration/gone.test.ts', 'test/thorough/gone.test.ts')).toEqual([]);
  });

  test('escapes special characters of a path', () => {
    const files = ['test/thorough/a+(b).test.ts', 'test/thorough/aab.test.ts'];
    expect(choose(['test/thorough/a+(b).test.ts'], files)).toMatchObject([{ files: [files[0]] }]);
  });

  test.each([
    ['src/cli/why/why.ts', 'src/storage/lvm/plan.ts', 'src/sandbox/server.ts'],
    [
      'src/storage/block/plan.ts',
      'src/nodes/transport/salt/login.ts',
      'src/controllers/populator/decide.ts',
    ],
  ])('runs no file twice for %s, %s and %s', (...changed) => {
    const files = filesOf(...changed);
    expect(files.filter((file, at) => files.indexOf(file) !== at)).toEqual([]);
  });

  test.each([
    ['package.json', 'test/nodes/quote.test.ts'],
    ['package-lock.json', 'test/integration/volume.test.ts'],
    ['jest.config.js', 'test/nodes/quote.test.ts'],
    ['salt/ssh_guard.py', 'test/integration/ssh-guard.test.ts'],
    ['test/salt/test_jobs.py', 'test/integration/salt-python.test.ts'],
    ['test/api-server/watches.ts', 'test/cluster/api-server.test.ts'],
    ['test/kep/cross-namespace.ts', 'test/cluster/kep.test.ts'],
    ['src/kube/informer.ts', 'test/thorough/daemon/leader-stopped.test.ts'],
    ['src/cli/install/metalk8s/record-volume.ts', 'test/cluster/vm/metalk8s.test.ts'],
    ['src/storage/device-identity.ts', 'test/cluster/vm/disk-identity.test.ts'],
    ['src/storage/block/plan.ts', 'test/cluster/vm/holders.test.ts'],
    ['docs/volumes.md', 'test/integration/docs.test.ts'],
    ['src/nodes/scripts/job.sh', 'test/thorough/faults.test.ts'],
    ['src/controllers/lib/event.ts', 'test/integration/daemon/attachment-writes.test.ts'],
    ['test/cluster/vm/lvm.ts', 'test/cluster/vm/lvm.test.ts'],
    ['test/cluster/install/scene.ts', 'test/cluster/install/upgrade.test.ts'],
  ])('chooses, for a change of %s, the test %s', (changed, file) => {
    expect(filesOf(changed)).toContain(file);
  });
});

test('test:faults runs each file that uses its settings, and the timing tests alone', () => {
  const files = laneFiles('faults', TESTS);
  const meant = laneFiles('thorough', TESTS).filter((file) =>
    /STOWAGE_FAULTS|seedOf/.test(readFileSync(file, 'utf8')),
  );
  expect(meant.filter((file) => !files.includes(file))).toEqual([]);
  expect(files.filter((file) => LANES.faults?.alone?.test(file))).toEqual(
    files.filter((file) => LANES.thorough?.alone?.test(file)),
  );
  expect(files.filter((file) => /volume-(back|hostile|controller)/.test(file))).toEqual([]);
});

describe('the map of directories', () => {
  test.each(ASKS.map(([directory, ...asks]) => [directory, asks] as const))(
    '%s exists, and its patterns match tests of the lanes',
    (directory, asks) => {
      expect(
        existsSync(directory) || readdirSync('.').some((name) => name.startsWith(directory)),
      ).toBe(true);
      for (const [lane, pattern = ''] of asks) {
        const matching = laneFiles(lane, TESTS).filter((file) => new RegExp(pattern).test(file));
        expect({ lane, pattern, matching }).not.toMatchObject({ matching: [] });
      }
    },
  );

  const REAL = TESTS.filter((file) => /^test\/(integration|thorough|cluster\/vm)\//.test(file));

  test.each(REAL)('selects %s for a change of any file that this test imports or reads', (file) => {
    const silent = namedIn(file).filter((name) => !filesOf(name).includes(file));
    expect(silent).toEqual([]);
  });

  test('selects every integration, thorough and VM test', () => {
    const asked = ASKS.flatMap(([, ...asks]) => asks).flatMap(([lane, pattern = '']) =>
      laneFiles(lane, TESTS).filter((file) => new RegExp(pattern).test(file)),
    );
    expect(REAL.filter((file) => !asked.includes(file))).toEqual([]);
  });

  test('has a row for every directory of src', () => {
    const directories = readdirSync('src', { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    );
    for (const { name } of directories) {
      expect(ASKS.find(([directory]) => `src/${name}/`.startsWith(directory))?.[0]).not.toBe(
        'src/',
      );
    }
  });
});

/**
 * Returns the files that a test imports from src or reads. Omits types, and the parts that reach
 * cluster and nodes. bin/ stands for the whole program.
 */
function namedIn(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(/^(?:import (?!type )|} )[^;]* from '(\.[^']+)';$/gm)];
  const sources = imported.map(([, name = '']) => join(dirname(file), name));
  const read = [...text.matchAll(/'((?:deploy|docs|salt|man|completions)\/[\w./-]+|README\.md)'/g)];
  return [
    ...sources.filter((name) => /^src\/(?!(api|nodes|kube|cli\/install)\/)/.test(name)),
    ...read.map(([, name = '']) => name).filter(existsSync),
  ];
}
