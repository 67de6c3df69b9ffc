import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../../src/api/meta.ts';
import { DRIVER } from '../../../../src/api/names.ts';
import { missing, result } from '../../../support/fake-executor.ts';
import { stowage } from '../../../support/fake-io.ts';
import { refusal } from '../../../support/refusals.ts';
import { directory } from '../../../support/volume-input.ts';
import { classNamed, volumeNamed } from '../../../support/volumes.ts';
import { check, DIRECTORY, freeIn, MADE, volume, withProbes, world } from './checked-node.ts';

const record = (path: string, more: object = {}) =>
  JSON.stringify({ version: 1, directory: path, ...directory.recorded, ...more });
const other = '/data/volumes';
const EMPTY = { [other]: missing, ...freeIn(other, 100) };
const paths = {
  [`path of ${DIRECTORY}`]: result(0, DIRECTORY),
  [`path of ${other}`]: result(0, other),
};
const checkDirectories = (...records: string[]) =>
  check(
    withProbes(MADE, {
      ...paths,
      ...EMPTY,
      'recorded directories': result(0, `${records.join('\n')}\n`),
    }),
    volume,
  );

test('check node accepts a directory on its recorded file system', async () => {
  const { code, checks } = await checkDirectories(record(DIRECTORY));
  expect(code).toBe(0);
  expect(checks).toContainEqual({
    ...{ check: 'directory', ok: true },
    message: `${DIRECTORY} is on its file system`,
  });
});

test('check node reports an unmounted directory, even if it has no Volume', async () => {
  const { code, problems } = await checkDirectories(
    record(DIRECTORY),
    record(other, { uuid: 'b-17' }),
  );
  expect({ code, problems }).toEqual({
    code: 5,
    problems: [
      {
        check: 'directory',
        ok: false,
        message: expect.stringMatching(
          /^the file system of \/data\/volumes is not mounted: .* ext4 b-17,/,
        ),
        hint: expect.stringMatching(/rm \/var\/lib\/stowage\/directories\/[0-9a-f]{32}$/),
      },
    ],
  });
});

test('check node reports an unmounted directory, not its files as missing', async () => {
  const away = {
    'recorded directories': result(0, record(DIRECTORY, { uuid: 'b-17' })),
    [DIRECTORY]: missing,
  };
  const { problems } = await check(withProbes(MADE, { ...paths, ...away }), volume);
  expect(problems.map((each) => each.check)).toEqual(['directory']);
});

test('check node reports a damaged record', async () => {
  const { problems } = await checkDirectories('{"version":2}');
  expect(problems).toMatchObject([{ message: expect.stringContaining('is damaged') }]);
});

describe('check node, on records of directories that do not exist', () => {
  const gone = (count: number, more: object = {}, name = 'old') =>
    Array.from({ length: count }, (_, at) => {
      const path = `/tmp/${name}-${at}`;
      return { path, more: { path, ...more } };
    });
  const nodeWith = (records: { path: string; more: object }[]) =>
    withProbes(MADE, {
      ...paths,
      ...Object.fromEntries(
        records.flatMap(({ path }) => [
          [path, missing],
          [`path of ${path}`, result(0, path)],
          ...Object.entries(freeIn(path, 100)),
        ]),
      ),
      'recorded directories': result(
        0,
        [record(DIRECTORY), ...records.map(({ path, more }) => record(path, more))].join('\n'),
      ),
    });
  const checkGone = (
    records: { path: string; more: object }[],
    objects: Record<string, KubeObject> = {},
  ) => check(nodeWith(records), { ...volume, ...objects });
  const AWAY = { uuid: 'b-17' };

  test('counts those that nothing names in one row, which removes them', async () => {
    const { checks, problems } = await checkGone([...gone(40), ...gone(2, AWAY, 'away')]);
    expect(problems).toEqual([
      {
        check: 'leftover',
        ok: false,
        message:
          'records of directories that do not exist, and that no class or Volume names: 42 (/tmp/away-0, /tmp/away-1, /tmp/old-0 and 39 more)',
        hint: expect.stringMatching(
          /mount it\. Otherwise remove the records; the command removes them\.$/,
        ),
        command: expect.stringMatching(
          /^'rm' '--'(?: '\/var\/lib\/stowage\/directories\/[0-9a-f]{32}'){42}$/,
        ),
      },
    ]);
    expect(JSON.stringify(checks.filter(({ ok }) => ok))).not.toContain('/tmp/old');
    expect(checks.map((each) => each.check)).not.toContain('leftovers');
  });

  test('removes none while a class that cannot be read may name it', async () => {
    const failures = { 'list storageclasses/*': refusal(403, 'forbidden', { code: 403 }) };
    const { out } = await stowage(['check', 'node', 'n1', '-o', 'json'], {
      ...world({ n1: nodeWith(gone(40)) }, volume),
      failures,
    });
    expect(JSON.parse(out).checks.map(({ check }: { check: string }) => check)).not.toContain(
      'leftover',
    );
  });

  test('removes a bounded number at once', async () => {
    const { problems } = await checkGone(gone(60));
    expect(problems[0]?.command?.match(/directories/g)).toHaveLength(50);
    expect(problems[0]?.hint).toContain('the first 50 of them');
  });

  test('reports the only one whose file system is not mounted by itself', async () => {
    const { problems } = await checkGone([...gone(3), { path: other, more: AWAY }]);
    expect(problems.map((each) => each.check).sort()).toEqual(['directory', 'leftover']);
  });

  test.each<[string, Record<string, KubeObject>]>([
    [
      'a class',
      {
        'storageclasses/fast': classNamed('fast', {
          provisioner: DRIVER,
          parameters: { directory: '/tmp/old-0' },
        }),
      },
    ],
    [
      'a Volume',
      {
        'volumes/data2': {
          ...volumeNamed('data2'),
          spec: {
            ...volumeNamed('data2').spec,
            nodeName: 'n1',
            sparseLoopDevice: { size: '1Gi', directory: '/tmp/old-0' },
          },
        } as KubeObject,
      },
    ],
    [
      'a Leftover',
      {
        'leftovers/u': {
          ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'Leftover', metadata: { name: 'u' } },
          spec: { uid: 'u', prepared: { node: 'n1', paths: ['/tmp/old-0/u'], identity: '' } },
        } as KubeObject,
      },
    ],
  ])('keeps the row of one that %s names', async (_, objects) => {
    const { checks } = await checkGone(gone(1), objects);
    expect(checks).toContainEqual({
      ...{ check: 'directory', ok: true, message: '/tmp/old-0 is on its file system' },
    });
  });
});
