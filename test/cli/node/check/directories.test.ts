import { expect, test } from '@jest/globals';
import { missing, result } from '../../../support/fake-executor.ts';
import { directory } from '../../../support/volume-input.ts';
import { check, DIRECTORY, freeIn, MADE, volume, withProbes } from './checked-node.ts';

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
