import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../src/api/volume.ts';
import type { Check } from '../../src/cli/check-node/report.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import { SudoRefusal } from '../../src/nodes/sudo.ts';
import { freeSpaceProbes } from '../../src/storage/free-space.ts';
import { TOOLS } from '../../src/storage/node-check/tools.ts';
import { nodeNamed } from '../support/cluster-objects.ts';
import { EMPTY_NODE, type FakeNodeAnswers, fakeExecutor, missing, result } from '../support/fake-executor.ts';
import { stowage, type World } from '../support/fake-io.ts';
import { refusal } from '../support/refusals.ts';
import { volumeNamed } from '../support/volumes.ts';

const UID = '11111111-2222-4333-8444-555555555555';
const OTHER = '99999999-2222-4333-8444-555555555555';
const FOLDER = '/var/lib/metalk8s/storage/sparse';
const RECORDS = '/var/lib/stowage/volumes';
const FILE = `${FOLDER}/${UID}`;

const intent = (uid: string, place: object) =>
  JSON.stringify({
    version: 1,
    uid,
    ...place,
    sizeBytes: '1',
    fsType: 'ext4',
    signature: 'none',
    consent: 'none',
  });
const loop = (file: string, device = '7:0') =>
  result(
    0,
    JSON.stringify({
      loopdevices: [
        {
          name: '/dev/loop0',
          'back-file': file,
          'back-ino': 7,
          'maj:min': device,
          autoclear: false,
          ro: false,
          offset: 0,
          sizelimit: 0,
        },
      ],
    }),
  );

/** Of a folder and those above it; in GiB. */
const freeIn = (folder: string, size: number) =>
  Object.fromEntries(
    freeSpaceProbes(folder).map(({ name }) => [name, result(0, `${size * 4096}|${1 << 18}\n`)]),
  );
const OK: FakeNodeAnswers['probes'] = {
  ...EMPTY_NODE,
  ...Object.fromEntries(TOOLS.map(({ name }) => [name, result(0)])),
  // When the clock of these tests stands.
  date: result(0, `${Date.parse('2030-01-01T00:00:00Z') / 1000}\n`),
  kernel: result(0, '6.12.43\n'),
  'loop-control': result(0),
  ...freeIn(FOLDER, 100),
  [RECORDS]: missing,
  [FOLDER]: missing,
};
/** What a Volume of UID has on its node. */
const MADE: FakeNodeAnswers['probes'] = {
  ...OK,
  loops: loop(FILE),
  [RECORDS]: result(0, `f 90 ${UID}.intent\nf 12 ${UID}.done`),
  [FOLDER]: result(0, `f 1073741824 ${UID}`),
  [`intent ${UID}`]: result(0, intent(UID, { file: FILE })),
  [`path /dev/disk/by-uuid/${UID}`]: result(0),
};
const made: Volume = {
  ...volumeNamed('data1', {
    phase: 'Available',
    prepared: { node: 'n1', paths: [FILE], identity: '1:2' },
  }),
  metadata: { name: 'data1', uid: UID },
};

const dataOne = (parts: Partial<Volume>): Record<string, Volume> => ({
  'volumes/data1': { ...made, ...parts },
});
const world = (nodes: Parameters<typeof fakeExecutor>[0], objects: World['objects'] = {}) => ({
  executor: fakeExecutor(nodes),
  objects,
});
async function check(node: FakeNodeAnswers | Error, objects: World['objects'] = {}) {
  const { code, out, err } = await stowage(
    ['check', 'node', 'n1', '-o', 'json'],
    world({ n1: node }, objects),
  );
  const checks: Check[] = JSON.parse(out).checks;
  return { code, err, checks, problems: checks.filter(({ ok }) => !ok) };
}
const volume = { 'volumes/data1': made };

test.each<[string, FakeNodeAnswers | Error]>([
  ['that answers', { probes: OK }],
  ['that does not', new NodeError('unreachable', 'n1', 'node n1: no route to host')],
])('an annotation that ssh does not follow is a problem of a node %s', async (_, answers) => {
  const annotations = { 'stowage.dev/address': 'user@host', 'stowage.dev/port': '22' };
  const { problems, code } = await check(answers, { 'nodes/n1': nodeNamed('n1', { annotations }) });
  expect(code).not.toBe(0);
  expect(problems.filter((problem) => problem.check === 'address')).toEqual([
    {
      check: 'address',
      ok: false,
      message: expect.stringContaining('"user@host", which is not a host name or an IP address'),
      hint: 'Correct it, or take it off: kubectl annotate node n1 stowage.dev/address-',
    },
  ]);
});

describe('a node on which all is well', () => {
  test.each<[string, FakeNodeAnswers, World['objects']]>([
    ['with nothing on it', { probes: OK }, {}],
    ['with a Volume', { probes: MADE, subjects: [UID] }, volume],
    [
      'with what a Volume left that is to be removed',
      { probes: MADE, subjects: [UID] },
      {
        [`leftovers/${UID}`]: {
          apiVersion: 'stowage.dev/v1alpha1',
          kind: 'Leftover',
          metadata: { name: UID },
          spec: { uid: UID, nodeName: 'n1', volumeName: 'data1' },
        } as never,
      },
    ],
    [
      'with a Volume that is being made',
      { probes: { ...MADE, [FOLDER]: result(0, `f 5 ${UID}.partial`), [RECORDS]: missing }, subjects: [UID] },
      dataOne({ status: { phase: 'Pending' } }),
    ],
    [
      'with a Volume of MetalK8s, which keeps no records',
      { probes: { ...MADE, [RECORDS]: missing } },
      volume,
    ],
    [
      'with a Volume that is not attached now',
      { probes: { ...MADE, loops: result(0), [`path /dev/disk/by-uuid/${UID}`]: result(1) } },
      volume,
    ],
    [
      'with files that are not named after Volumes',
      {
        probes: {
          ...OK,
          [FOLDER]: result(0, `f 5 my-own-file-is-here\nf 5 ${UID}.orig-1\nf 5 g${UID.slice(1)}`),
        },
      },
      {},
    ],
    ['with loops of other files', { probes: { ...OK, loops: loop(`/srv/${UID}`) } }, {}],
  ])('%s', async (_, node, objects) => {
    const { code, problems, err } = await check(node, objects);
    expect({ code, problems, err }).toEqual({ code: 0, problems: [], err: '' });
  });

  test('shows a line for each check', async () => {
    const { out } = await stowage(['check', 'node', 'n1'], world({ n1: { probes: OK } }));
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^CHECK +RESULT +WHAT$/);
    // Reached, user, udev, kernel, clock, tools, space, leftovers.
    expect(lines).toHaveLength(1 + 5 + TOOLS.length + 2);
    expect(lines.slice(1).every((line) => / OK +/.test(line))).toBe(true);
  });

  test('is looked at by what only reads', async () => {
    const executor = fakeExecutor({ n1: { probes: OK } });
    await stowage(['check', 'node', 'n1'], { executor });
    expect(executor.closed).toBe(true);
    expect(executor.asked).toContain(
      `n1: find -H ${FOLDER} -mindepth 1 -maxdepth 1 -name *-*-*-*-* -printf %y %s %f\\n`,
    );
  });
});

describe('tools and udev', () => {
  test('a tool that is missing, with what it is for', async () => {
    const { code, problems } = await check({ probes: { ...OK, sgdisk: result(127) } });
    expect({ code, problems }).toEqual({
      code: 5,
      problems: [
        {
          check: 'sgdisk',
          ok: false,
          message: 'missing, for mode Block',
          hint: 'Install gdisk on the node.',
        },
      ],
    });
  });

  test('a tool that ends with a status of its own is there', async () => {
    expect(await check({ probes: { ...OK, resize2fs: result(1) } })).toMatchObject({ code: 0, problems: [] });
  });

  test('udev does not run', async () => {
    const { code, problems } = await check({ probes: { ...OK, udev: result(1) } });
    expect({ code, names: problems.map(({ check }) => check) }).toEqual({ code: 5, names: ['udev'] });
  });
});

describe('kernel, clock, space', () => {
  const now = Date.parse('2030-01-01T00:00:00Z') / 1000;

  test('versions of tools are told, wherever they are printed', async () => {
    const probes = {
      ...OK,
      sgdisk: result(0, 'GPT fdisk (sgdisk) version 1.0.10\n'),
      'mkfs.ext4': result(0, '', 'mke2fs 1.47.2 (1-Jan-2025)\n'),
      udevadm: result(0, '257\n'),
    };
    const { checks } = await check({ probes });
    const said = (name: string) => checks.find(({ check }) => check === name)?.message;
    expect(['sgdisk', 'mkfs.ext4', 'udevadm', 'dd', 'kernel'].map(said)).toEqual([
      'for mode Block (1.0.10)',
      'for ext4 (1.47.2)',
      'for all (257)',
      'for all',
      '6.12.43, with loop devices',
    ]);
  });

  test.each<[string, Partial<FakeNodeAnswers['probes']>, Partial<Check> | undefined]>([
    [
      'a kernel without loop devices',
      { 'loop-control': result(1) },
      { check: 'kernel', command: 'modprobe loop && echo loop >/etc/modules-load.d/loop.conf' },
    ],
    ['a clock that is 5 s ahead', { date: result(0, `${now + 5}`) }, undefined],
    [
      'a clock that is 6 s ahead',
      { date: result(0, `${now + 6}`) },
      { check: 'clock', message: '6 s ahead of the clock of this machine' },
    ],
    ['a clock that is 6 s behind, or almost 5', { date: result(0, `${now - 6}`) }, undefined],
    [
      'a clock that is behind',
      { date: result(0, `${now - 61}`) },
      { check: 'clock', message: '60 s behind the clock of this machine' },
    ],
    ['a clock that says nothing', { date: result(0, 'soon') }, { check: 'tools' }],
    ['a file system with 1 GiB free', freeIn(FOLDER, 1), undefined],
    [
      'a file system that is full',
      freeIn(FOLDER, 0.5),
      { check: 'space', message: `512Mi free for ${FOLDER}` },
    ],
    [
      'a folder that is not there yet is to be where the one above it is',
      { [`free ${FOLDER}`]: missing, 'free /var/lib/metalk8s/storage': result(0, '1|4096') },
      { check: 'space', message: `4Ki free for ${FOLDER}` },
    ],
  ])('%s', async (_, probes, expected) => {
    const { code, problems } = await check({ probes: { ...OK, ...probes } as FakeNodeAnswers['probes'] });
    expect({ code, problems }).toEqual(
      expected === undefined
        ? { code: 0, problems: [] }
        : { code: 5, problems: [expect.objectContaining(expected)] },
    );
  });

  test('a Node that is paused is told, and no problem', async () => {
    const node = nodeNamed('n1', { annotations: { 'stowage.dev/paused': 'true' } });
    const { code, checks } = await check({ probes: OK }, { 'nodes/n1': node });
    expect({ code, second: checks[1] }).toEqual({
      code: 0,
      second: {
        check: 'paused',
        ok: true,
        message: 'its Node has the annotation stowage.dev/paused: nothing is written there',
      },
    });
  });

  test('as many round trips as there were', async () => {
    const executor = fakeExecutor({ n1: { probes: OK } });
    let trips = 0;
    const { observe } = executor;
    executor.observe = (...asked) => {
      trips += 1;
      return observe(...asked);
    };
    await stowage(['check', 'node', 'n1'], { executor });
    expect(trips).toBe(4);
  });
});

describe('an API server restored to before a create', () => {
  test('lists what is on the node, the records last', async () => {
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

  test('with other Volumes there', async () => {
    const probes = {
      ...MADE,
      [FOLDER]: result(0, `f 1073741824 ${UID}\nf 4096 ${OTHER}`),
      [RECORDS]: result(0, `f 90 ${UID}.intent`),
    };
    const { problems } = await check({ probes, subjects: [UID] }, volume);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${FOLDER}/${OTHER}, a`),
    ]);
  });

  test('in a folder that only the records name', async () => {
    const file = `/srv/files/${UID}`;
    const probes = {
      ...MADE,
      loops: result(0),
      [FOLDER]: missing,
      ...freeIn('/srv/files', 100),
      '/srv/files': result(0, `f 10 ${UID}\nf 20 ${UID}.partial`),
      [`intent ${UID}`]: result(0, intent(UID, { file })),
    };
    const { problems } = await check({ probes });
    expect(problems.map(({ message }) => message.split(';')[0])).toEqual([
      `${file}, a backing file of 10 bytes`,
      `${file}.partial, a backing file that was never finished of 20 bytes`,
      `records of the file ${file}`,
    ]);
  });

  test('in a folder of another Volume of the node', async () => {
    const here: Volume = {
      ...made,
      spec: { ...made.spec, sparseLoopDevice: { size: '1Gi', directory: '/srv' } },
    };
    const probes = { ...MADE, ...freeIn('/srv', 100), '/srv': result(0, `f 10 ${OTHER}`) };
    expect((await check({ probes }, { 'volumes/data1': here })).problems).toMatchObject([
      { message: expect.stringContaining(`/srv/${OTHER}`) },
    ]);
  });

  test('of a device, which is named and left as it is', async () => {
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
        hint: expect.stringContaining('What is on the device stays'),
        command: `'rm' '--' '${RECORDS}/${UID}.intent'`,
      },
    ]);
  });

  test.each<[string, Partial<FakeNodeAnswers['probes']>, Partial<Check>]>([
    [
      'a loop device that is mounted has no command',
      { mounts: result(0, '36 24 7:0 / /mnt rw - ext4 /dev/loop0 rw') },
      { hint: 'It is in use: mounted at /mnt. End that, then check again.' },
    ],
    [
      'a loop device of a file that was removed',
      { loops: loop(`${FILE} (deleted)`) },
      { message: expect.stringContaining(`of ${FILE} (deleted)`) as never, command: 'losetup -d /dev/loop0' },
    ],
    [
      'a loop device that alone is left',
      { loops: loop(`${FILE} (deleted)`), [FOLDER]: missing, [RECORDS]: missing },
      { message: expect.stringContaining('/dev/loop0') as never, command: 'losetup -d /dev/loop0' },
    ],
    [
      'a loop device of a folder that is reached by a link',
      { loops: loop(`/mnt/disk/${UID}`) },
      { message: expect.stringContaining('/dev/loop0') as never, command: 'losetup -d /dev/loop0' },
    ],
    [
      'what is no plain file has no command',
      { loops: result(0), [FOLDER]: result(0, `d 4096 ${UID}`) },
      { message: expect.stringContaining('which is no plain file') as never, hint: 'Look at what it is.' },
    ],
    [
      'records that are damaged are records',
      { loops: result(0), [FOLDER]: missing, [`intent ${UID}`]: result(0, '{') },
      { message: `records; no Volume of this cluster has the UID ${UID}` },
    ],
  ])('%s', async (_, probes, expected) => {
    const [first] = (await check({ probes: { ...MADE, ...probes } as FakeNodeAnswers['probes'] })).problems;
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

describe('an API server restored to before a delete', () => {
  const gone = { [FOLDER]: missing, [RECORDS]: missing, loops: result(0) };
  const link = `path /dev/disk/by-uuid/${UID}`;
  const raw = (status: Volume['status']): World['objects'] => {
    const { sparseLoopDevice: _, ...spec } = made.spec;
    return dataOne({
      spec: { ...spec, rawBlockDevice: { devicePath: '/dev/sdx' } },
      ...(status && { status }),
    });
  };
  const prepared = { node: 'n1', paths: ['/dev/sdx'], identity: 'wwn=1' };

  test.each<[string, Partial<FakeNodeAnswers['probes']>, World['objects'], string | undefined]>([
    [
      'file and records',
      { ...gone, [link]: result(1) },
      volume,
      `its file ${FILE} is missing, and so are its records`,
    ],
    ['the file', { [FOLDER]: missing }, volume, `its file ${FILE} is missing`],
    [
      'half a file is none',
      { [FOLDER]: result(0, `f 1 ${UID}.partial`) },
      volume,
      `its file ${FILE} is missing`,
    ],
    [
      'records and device',
      { [RECORDS]: missing, [link]: result(1) },
      volume,
      'the node has neither a record of it nor its device',
    ],
    [
      'of a raw device',
      { ...gone, [link]: result(1) },
      raw({ prepared }),
      'the node has neither a record of it nor its device',
    ],
    ['a raw device that MetalK8s made', gone, raw({ prepared }), undefined],
    ['of a Volume that is not made yet', { ...gone }, dataOne({ status: {} }), undefined],
    [
      'of another node',
      { ...gone },
      dataOne({ status: { prepared: { node: 'n2', paths: [FILE], identity: '' } } }),
      undefined,
    ],
    [
      'of one being deleted',
      { ...gone },
      dataOne({ metadata: { ...made.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }),
      undefined,
    ],
    [
      'of one whose status names another file',
      { ...gone },
      dataOne({ status: { prepared: { node: 'n1', paths: ['/etc/passwd'], identity: '' } } }),
      undefined,
    ],
  ])('%s', async (_, probes, objects, expected) => {
    const { code, problems } = await check(
      { probes: { ...MADE, ...probes } as FakeNodeAnswers['probes'] },
      objects,
    );
    expect(problems).toEqual(
      expected === undefined
        ? []
        : [
            {
              check: 'Volume data1',
              ok: false,
              message: `it was made here, and ${expected}`,
              hint: expect.stringContaining('stowage delete volume data1'),
            },
          ],
    );
    expect(code).toBe(expected === undefined ? 0 : 5);
  });
});

describe('while objects come and go', () => {
  /** What is there when the node is looked at, and after it. */
  const changing = async (
    before: World['objects'] & object,
    after: World['objects'] & object,
    probes: FakeNodeAnswers['probes'],
  ) => {
    const objects = { ...before };
    const node = {
      probes: {
        ...probes,
        udev: () => {
          for (const name of Object.keys(objects)) delete objects[name];
          Object.assign(objects, after);
          return result(0);
        },
      },
      subjects: [UID],
    };
    return check(node, objects);
  };

  test('a Volume that was made meanwhile left nothing', async () => {
    expect(await changing({}, volume, MADE)).toMatchObject({ code: 0, problems: [] });
  });

  test('a Volume that was deleted meanwhile left nothing, and is not missed', async () => {
    expect(await changing(volume, {}, MADE)).toMatchObject({ code: 0, problems: [] });
    const probes = { ...MADE, [FOLDER]: missing, [RECORDS]: missing };
    expect(await changing(volume, {}, probes)).toMatchObject({ code: 0, problems: [] });
  });

  test('a cluster without the CRD of Leftovers has none', async () => {
    const failures = { 'list leftovers/*': refusal(404) };
    const there = { ...world({ n1: { probes: MADE } }, volume), failures };
    expect(await stowage(['check', 'node', 'n1'], there)).toMatchObject({ code: 0 });
  });
});

describe('what cannot be looked at', () => {
  const away = new NodeError('unreachable', 'n1', 'node n1 did not answer', { hint: 'Look at it.' });
  const refused = new SudoRefusal('bob', 'test', 'sudo: a password is required').on('n1');
  const throwing = () => {
    throw refused;
  };

  test('a node that does not answer', async () => {
    const { code, problems, err } = await check(away);
    expect({ code, problems }).toEqual({
      code: 1,
      problems: [{ check: 'reachable', ok: false, message: 'node n1 did not answer', hint: 'Look at it.' }],
    });
    expect(JSON.parse(err)).toMatchObject({ reason: 'NodeUnreachable', hint: 'Look at it.' });
    // There is nothing to be run on it.
    const { out } = await stowage(['check', 'node', 'n1'], world({ n1: away }));
    expect(out).not.toContain('# ');
  });

  test.each<[string, FakeNodeAnswers, string[]]>([
    ['nothing may be run', { probes: { ...OK, udev: throwing } }, ['user']],
    ['tools may not be run', { probes: { ...OK, losetup: throwing } }, ['tools']],
    ['folders may not be read', { probes: { ...OK, [FOLDER]: throwing } }, ['leftovers']],
    [
      'a folder can not be read',
      { probes: { ...OK, [FOLDER]: result(1, '', 'find: I/O error') } },
      ['leftovers'],
    ],
    ['jobs are of another user', { probes: OK, subjects: refused }, ['jobs']],
  ])('%s', async (_, node, names) => {
    const { code, problems } = await check(node);
    expect({ code, names: problems.map((problem) => problem.check) }).toEqual({ code: 5, names });
  });

  test.each<[string, (FakeNodeAnswers | Error)[], number]>([
    ['one of two is away', [{ probes: OK }, away], 7],
    ['one of two is away, and something is on the other', [{ probes: MADE }, away], 7],
    ['both are away', [away, away], 1],
    ['something is on one', [{ probes: MADE }, { probes: OK }], 5],
    ['all is well', [{ probes: OK }, { probes: OK }], 0],
  ])('%s', async (_, [n1, n2], code) => {
    const nodes = { n1: n1 as FakeNodeAnswers, n2: n2 as FakeNodeAnswers };
    const outcome = await stowage(['check', 'node', 'n{1..2}'], world(nodes));
    expect(outcome.code).toBe(code);
    expect(outcome.out).toMatch(/^Node n1\n/);
    expect(outcome.out).toContain('\n\nNode n2\n');
    const data = JSON.parse((await stowage(['check', 'node', 'n1', 'n2', '-o', 'json'], world(nodes))).out);
    expect(data.items.map(({ node }: { node: string }) => node)).toEqual(['n1', 'n2']);
  });
});

test('what helps is below the table, one command a line', async () => {
  const { out } = await stowage(['check', 'node', 'n1'], world({ n1: { probes: MADE } }));
  const [, help = ''] = out.split('\n# What helps, to be run as root on n1:\n');
  expect(help.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'losetup -d /dev/loop0',
    expect.stringContaining(`'rm' '--' '${FILE}'`),
    expect.stringContaining(`'rm' '--' '${RECORDS}/${UID}.done'`),
  ]);
});

test('what a record says runs nothing', async () => {
  const probes = {
    ...OK,
    [RECORDS]: result(0, `f 90 ${UID}.intent`),
    [`intent ${UID}`]: result(0, intent(UID, { device: { path: '/dev/x\nreboot\u001b[2J', identity: '' } })),
  };
  const { out } = await stowage(['check', 'node', 'n1'], world({ n1: { probes } }));
  expect(out).not.toContain('\u001b');
  expect(out.split('\n').filter((line) => line.startsWith('reboot'))).toEqual([]);
});

test.each([
  [['check', 'node']],
  [['check', 'node', 'N1']],
  [['check', 'node', 'n1', '--transport', 'local']],
])('%j is wrong usage', async (argv) => {
  expect(await stowage(argv)).toMatchObject({ code: 2, requests: [] });
});
