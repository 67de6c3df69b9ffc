import { existsSync, globSync, readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { choose } from './choose.ts';
import { ASKS, LANES } from './lanes.ts';

const lanesOf = (...changed: string[]) => choose(changed).map(({ lane }) => lane);

describe('choose', () => {
  test('asks for nothing but checks and unit tests where no real part runs the file', () => {
    expect(choose(['docs/decisions/0001-a.md', 'CHANGELOG.md', 'test/storage/plan.test.ts'])).toEqual([]);
  });

  test('asks for the whole lane where one of the files does', () => {
    expect(choose(['src/nodes/salt/login.ts', 'src/nodes/job.ts'])).toEqual([
      {
        lane: 'integration',
        patterns: [],
        because: ['src/nodes/salt/login.ts', 'src/nodes/job.ts'],
      },
      { lane: 'thorough', patterns: [], because: ['src/nodes/salt/login.ts', 'src/nodes/job.ts'] },
      { lane: 'smoke', patterns: [], because: ['src/nodes/job.ts'] },
      { lane: 'cluster', patterns: ['/salt/'], because: ['src/nodes/salt/login.ts'] },
    ]);
  });

  test('takes the first row that matches a file', () => {
    expect(lanesOf('src/storage/lvm/plan.ts')).toContain('cluster');
    expect(lanesOf('src/storage/plan.ts')).not.toContain('cluster');
  });

  test.each([
    ['test/integration/jobs.test.ts', 'thorough'],
    ['test/thorough/faults.test.ts', 'thorough'],
    ['test/cluster/vm/lvm.test.ts', 'cluster'],
  ])('has %s run itself, in the lane %s', (file, lane) => {
    expect(choose([file])).toEqual([
      { lane, patterns: [`^${file.replaceAll('.', '\\.')}$`], because: [file] },
    ]);
  });
});

describe('the map of directories', () => {
  const files = globSync('test/{integration,thorough,cluster}/**/*.test.ts');

  test.each(ASKS.map(([directory, ...asks]) => [directory, asks] as const))(
    '%s names what is there',
    (directory, asks) => {
      expect(existsSync(directory) || readdirSync('.').some((name) => name.startsWith(directory))).toBe(true);
      for (const [lane, pattern = ''] of asks) {
        const { projects = [], only } = LANES[lane] ?? {};
        const there = files.filter((file) => projects.some((project) => file.startsWith(`test/${project}/`)));
        const matching = there.filter((file) => (only?.test(file) ?? true) && new RegExp(pattern).test(file));
        expect({ lane, pattern, matching }).not.toMatchObject({ matching: [] });
      }
    },
  );

  test('has every directory of src', () => {
    const directories = readdirSync('src', { withFileTypes: true }).filter((each) => each.isDirectory());
    for (const { name } of directories) {
      expect(ASKS.find(([directory]) => `src/${name}/`.startsWith(directory))?.[0]).not.toBe('src/');
    }
  });
});
