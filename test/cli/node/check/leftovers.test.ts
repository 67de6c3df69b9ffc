import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../../src/api/volume.ts';
import type { Check } from '../../../../src/cli/lib/checks/report.ts';
import { NodeError } from '../../../../src/nodes/errors.ts';
import { SudoRefusal } from '../../../../src/nodes/sudo.ts';
import { missing, result } from '../../../support/fake-executor.ts';
import type { World } from '../../../support/fake-io.ts';
import { directory } from '../../../support/volume-input.ts';
import { classNamed } from '../../../support/volumes.ts';
import {
  check,
  DIRECTORY,
  FILE,
  freeIn,
  intent,
  loop,
  MADE,
  made,
  OK,
  OTHER,
  type Probes,
  RECORDS,
  UID,
  volume,
  withProbes,
} from './checked-node.ts';

const CLASS = {
  'storageclasses/keep': {
    ...classNamed('keep'),
    provisioner: 'volume.stowage.dev',
    parameters: { directory: '/srv/files' },
  },
};

describe('check node after the API server was restored to before a create', () => {
  test('lists leftovers on the node, the records last', async () => {
    const { code, problems, err } = await check({ probes: MADE, subjects: [UID] });
    expect(code).toBe(5);
    expect(err).toContain('4 problems on n1');
    expect(problems.map(({ message }) => message)).toEqual([
      `/dev/loop0, the loop device of ${FILE}; no Volume of this cluster has the UID ${UID}`,
      `${FILE}, a backing file of 1Gi; no Volume of this cluster has the UID ${UID}`,
      `records of the file ${FILE}; no Volume of this cluster has the UID ${UID}`,
      `/run/stowage/jobs/${UID}, jobs; no Volume of this cluster has the UID ${UID}`,
    ]);
    expect(problems.map(({ command }) => command)).toEqual([
      'losetup -d /dev/loop0',
      `used=$(losetup -j '${FILE}') && [ -z "$used" ] && 'rm' '--' '${FILE}'`,
      `'rm' '--' '${RECORDS}/${UID}.done' '${RECORDS}/${UID}.intent'`,
      `'flock' '-n' '/run/stowage/jobs/${UID}/lock' 'rm' '-r' '--' '/run/stowage/jobs/${UID}'`,
    ]);
  });

  test('lists leftovers beside Volumes that exist', async () => {
    const probes = {
      ...MADE,
      [DIRECTORY]: result(0, `f 1073741824 ${UID}\nf 4096 ${OTHER}`),
      [RECORDS]: result(0, `f 90 ${UID}.intent`),
    };
    const { problems } = await check({ probes, subjects: [UID] }, volume);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${DIRECTORY}/${OTHER}, a`),
    ]);
  });

  test.each<[string, Probes, World['objects']]>([
    ['a class names', {}, CLASS],
    [
      'the node has on record',
      {
        'recorded directories': result(
          0,
          JSON.stringify({
            version: 1,
            directory: '/srv/files',
            ...directory.recorded,
            path: '/srv/files',
          }),
        ),
        'path of /srv/files': result(0, '/srv/files'),
      },
      {},
    ],
  ])('lists leftovers in a directory that %s', async (_what, more, objects) => {
    const probes = {
      '/srv/files': result(0, `f 4096 ${OTHER}`),
      ...freeIn('/srv/files', 100),
      ...more,
    };
    const { problems } = await check(withProbes(MADE, probes), { ...volume, ...objects });
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`/srv/files/${OTHER}, a backing file`),
    ]);
  });

  test('lists leftovers of other directories if sudo refuses one', async () => {
    const denied = () => {
      const cause = new SudoRefusal('stowage', 'find /srv/files', '');
      throw new NodeError('refused', 'n1', cause.message, { cause });
    };
    const probes = { '/srv/files': denied, [DIRECTORY]: result(0, `f 1 ${UID}\nf 4096 ${OTHER}`) };
    const { problems } = await check(withProbes(MADE, probes), { ...volume, ...CLASS });
    expect(problems.map(({ message }) => message)).toEqual([
      '/srv/files is not checked: sudo does not let stowage run find /srv/files',
      expect.stringContaining(`${DIRECTORY}/${OTHER}, a backing file`),
    ]);
  });

  test('lists leftovers of other directories if sudo refuses one on record', async () => {
    const denied = () => {
      const cause = new SudoRefusal('stowage', 'find /srv/files', '');
      throw new NodeError('refused', 'n1', cause.message, { cause });
    };
    const text = { version: 1, directory: '/srv/files', ...directory.recorded, path: '/srv/files' };
    const probes = {
      'recorded directories': result(0, JSON.stringify(text)),
      '/srv/files': denied,
      'path of /srv/files': denied,
      [DIRECTORY]: result(0, `f 1 ${UID}\nf 4096 ${OTHER}`),
    };
    const { problems } = await check(withProbes(MADE, probes), volume);
    expect(problems.map(({ message }) => message)).toEqual([
      '/srv/files is not checked: sudo does not let stowage run find /srv/files',
      expect.stringContaining(`${DIRECTORY}/${OTHER}, a backing file`),
    ]);
  });

  test('ignores a refused default directory that nothing names', async () => {
    const denied = () => {
      const cause = new SudoRefusal('stowage', 'find', '');
      throw new NodeError('refused', 'n1', cause.message, { cause });
    };
    const probes = {
      [DIRECTORY]: denied,
      '/srv/files': result(0, ''),
      ...freeIn('/srv/files', 100),
    };
    expect((await check(withProbes(OK, probes), CLASS)).problems).toEqual([]);
  });

  test('lists leftovers in a directory that only the records name', async () => {
    const file = `/srv/files/${UID}`;
    const probes = {
      ...MADE,
      loops: result(0),
      [DIRECTORY]: missing,
      ...freeIn('/srv/files', 100),
      '/srv/files': result(0, `f 10 ${UID}\nf 20 ${UID}.partial`),
      [`intent ${UID}`]: result(0, intent(UID, { file })),
    };
    const { problems } = await check({ probes });
    expect(problems.map(({ message }) => message.split(';')[0])).toEqual([
      `${file}, a backing file of 10 bytes`,
      `${file}.partial, an unfinished backing file of 20 bytes`,
      `records of the file ${file}`,
    ]);
  });

  test('lists leftovers in a directory of another Volume of the node', async () => {
    const here: Volume = {
      ...made,
      spec: { ...made.spec, sparseLoopDevice: { size: '1Gi', directory: '/srv' } },
    };
    const probes = { ...MADE, ...freeIn('/srv', 100), '/srv': result(0, `f 10 ${OTHER}`) };
    expect((await check({ probes }, { 'volumes/data1': here })).problems).toMatchObject([
      { message: expect.stringContaining(`/srv/${OTHER}`) },
    ]);
  });

  test('names the device of a record, and prints no command that changes it', async () => {
    const device = { device: { path: '/dev/sdx', identity: 'wwn=1' } };
    const probes = {
      ...OK,
      [RECORDS]: result(0, `f 90 ${UID}.intent`),
      [`intent ${UID}`]: result(0, intent(UID, device)),
    };
    expect((await check({ probes })).problems).toEqual([
      {
        check: 'leftover',
        ok: false,
        message: `records of the device /dev/sdx; no Volume of this cluster has the UID ${UID}`,
        hint: expect.stringContaining('The content of the device stays'),
        command: `'rm' '--' '${RECORDS}/${UID}.intent'`,
      },
    ]);
  });

  test.each<[string, Probes, Partial<Check>]>([
    [
      'a loop device that is mounted is unmounted first',
      { mounts: result(0, '36 24 7:0 / /mnt rw - ext4 /dev/loop0 rw') },
      {
        hint: 'It is in use: mounted at /mnt. End that use if its content is not needed, then check again.',
        command: 'umount /mnt',
      },
    ],
    [
      'a loop device that the kubelet has mounted has no command',
      {
        mounts: result(
          0,
          '36 24 7:0 / /var/lib/kubelet/pods/x/volumes/kubernetes.io~local-volume/a rw - ext4 /dev/loop0 rw',
        ),
      },
      { hint: expect.stringContaining('The kubelet on the node releases it') as never },
    ],
    [
      'a loop device of a removed file is detached',
      { loops: loop(`${FILE} (deleted)`) },
      {
        message: expect.stringContaining(`of ${FILE} (deleted)`) as never,
        command: 'losetup -d /dev/loop0',
      },
    ],
    [
      'a loop device without a file or records is detached',
      { loops: loop(`${FILE} (deleted)`), [DIRECTORY]: missing, [RECORDS]: missing },
      { message: expect.stringContaining('/dev/loop0') as never, command: 'losetup -d /dev/loop0' },
    ],
    [
      'a loop device of a file in a linked directory is detached',
      { loops: loop(`/mnt/disk/${UID}`) },
      { message: expect.stringContaining('/dev/loop0') as never, command: 'losetup -d /dev/loop0' },
    ],
    [
      'a path that is not a regular file has no command',
      { loops: result(0), [DIRECTORY]: result(0, `d 4096 ${UID}`) },
      {
        message: expect.stringContaining('which is not a regular file') as never,
        hint: 'Check what it is, then remove or move it.',
      },
    ],
    [
      'damaged records count as records',
      { loops: result(0), [DIRECTORY]: missing, [`intent ${UID}`]: result(0, '{') },
      { message: `records; no Volume of this cluster has the UID ${UID}` },
    ],
  ])('%s', async (_, probes, expected) => {
    const [first] = (await check(withProbes(MADE, probes))).problems;
    expect(first).toMatchObject(expected);
    expect(first?.command).toEqual(
      'command' in expected
        ? expected.command
        : first?.message.startsWith('records')
          ? expect.any(String)
          : undefined,
    );
  });
});
