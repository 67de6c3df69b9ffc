import { describe, expect, test } from '@jest/globals';
import { refuse } from '../../../../src/api/reasons.ts';
import type { Check } from '../../../../src/cli/lib/checks/report.ts';
import { NodeError, nodeError } from '../../../../src/nodes/errors.ts';
import { SudoRefusal } from '../../../../src/nodes/sudo.ts';
import { NOW, nodeNamed } from '../../../support/cluster-objects.ts';
import {
  type FakeNodeAnswers,
  fakeExecutor,
  missing,
  result,
} from '../../../support/fake-executor.ts';
import { stowage } from '../../../support/fake-io.ts';
import {
  check,
  DIRECTORY,
  freeIn,
  MADE,
  OK,
  type Probes,
  RECORDS,
  withProbes,
  world,
} from './checked-node.ts';

const FIND = 'form find /dev/null -ignore_readdir_race -maxdepth 0 -printf %y|%s|%b|%C@\\n';

describe('check node on tools and udev', () => {
  test('reports a missing tool, with its purpose', async () => {
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

  test('reports a program that does not understand an option', async () => {
    const cp = 'form cp --reflink=auto --sparse=always --help';
    const said = result(1, '', "cp: unrecognized option '--sparse=always'\nBusyBox v1.35.0\n");
    const { code, problems, checks } = await check({ probes: { ...OK, [cp]: said } });
    expect({ code, problems }).toEqual({
      code: 5,
      problems: [
        {
          check: 'cp',
          ok: false,
          message:
            "cp does not understand 'cp --reflink=auto --sparse=always --help', for snapshots: cp: unrecognized option '--sparse=always'",
          hint: expect.stringContaining('cp of GNU coreutils'),
          reason: 'ProgramUnsupported',
        },
      ],
    });
    expect(checks.map((each) => each.check)).not.toContain('programs');
  });

  test('reports a missing optional tool, but not as a problem', async () => {
    const { code, checks } = await check({ probes: { ...OK, xz: result(127) } });
    expect(code).toBe(0);
    expect(checks).toContainEqual({
      ...{ check: 'xz', ok: true },
      message:
        'optional, for sources compressed with it: not installed, package xz-utils (Fedora: xz)',
    });
  });

  test('regards a tool as present for any exit status but 127', async () => {
    expect(await check({ probes: { ...OK, resize2fs: result(1) } })).toMatchObject({
      code: 0,
      problems: [],
    });
  });

  test.each([
    ['sudo-rs_0.2.5', 'sudo-rs 0.2.5'],
    ['Sudo_version_1.9.5p2', 'sudo 1.9.5p2'],
  ])('reports a sudo that cannot read the rules: %s', async (version, name) => {
    const udev = () => {
      throw new SudoRefusal('stowage', 'test -S /run/udev/control', '', version).on('n1');
    };
    const { code, problems } = await check({ probes: { ...OK, udev, commands: udev } });
    expect({ code, problems }).toEqual({
      code: 5,
      problems: [
        {
          check: 'user',
          ok: false,
          message: `node n1: ${name} does not let user stowage run 'test -S /run/udev/control' as root without a password, since it cannot read the regular expressions of Stowage's rules`,
          hint: expect.stringContaining('sudo 1.9.10 or later'),
        },
      ],
    });
  });

  test('reports sudo rules of another version, and continues', async () => {
    const commands = () => {
      throw new SudoRefusal('stowage', 'true stowage-allows-0', '').on('n1');
    };
    // Other rules refuse a form of this version, too.
    const probes = { ...OK, commands, [FIND]: commands };
    const { code, problems, checks } = await check({ probes });
    expect({ code, problems }).toEqual({
      code: 5,
      problems: [
        {
          check: 'commands',
          ok: false,
          message: expect.stringContaining('not those of this version'),
          hint: expect.stringContaining('stowage print sudoers'),
        },
      ],
    });
    const names = checks.map(({ check }) => check);
    expect(names).toEqual(expect.arrayContaining(['kernel', 'losetup', 'leftovers']));
    expect(names).not.toContain('programs');
  });

  test('reports that udev does not run', async () => {
    const { code, problems } = await check({ probes: { ...OK, udev: result(1) } });
    expect({ code, names: problems.map(({ check }) => check) }).toEqual({
      code: 5,
      names: ['udev'],
    });
  });
});

describe('check node on kernel, clock and space', () => {
  const now = NOW / 1000;

  test('reports versions of tools from standard output or error', async () => {
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

  test.each<[string, Probes, Partial<Check> | undefined]>([
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
    ['a clock that is 5 to 6 s behind', { date: result(0, `${now - 6}`) }, undefined],
    [
      'a clock that is behind',
      { date: result(0, `${now - 61}`) },
      { check: 'clock', message: '60 s behind the clock of this machine' },
    ],
    ['a clock that cannot be read', { date: result(0, 'soon') }, { check: 'tools' }],
    ['a file system with 1 GiB free', freeIn(DIRECTORY, 1), undefined],
    [
      'a file system that is full',
      freeIn(DIRECTORY, 0.5),
      { check: 'space', message: `512Mi free for ${DIRECTORY}` },
    ],
    [
      'the parent of a directory that does not exist yet',
      { [`free ${DIRECTORY}`]: missing, 'free /var/lib/metalk8s/storage': result(0, '1|4096') },
      { check: 'space', message: `4Ki free for ${DIRECTORY}` },
    ],
  ])('checks %s', async (_, probes, expected) => {
    const { code, problems } = await check(withProbes(OK, probes));
    expect({ code, problems }).toEqual(
      expected === undefined
        ? { code: 0, problems: [] }
        : { code: 5, problems: [expect.objectContaining(expected)] },
    );
  });

  test('reports a paused Node, but not as a problem', async () => {
    const node = nodeNamed('n1', { annotations: { 'stowage.dev/paused': 'true' } });
    const { code, checks } = await check({ probes: OK }, { 'nodes/n1': node });
    expect({ code, second: checks[1] }).toEqual({
      code: 0,
      second: {
        check: 'paused',
        ok: true,
        message:
          'its Node is paused, and nothing is written there. To resume it: stowage resume node n1',
      },
    });
  });

  test('makes four round trips', async () => {
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

describe('check node', () => {
  const away = new NodeError('unreachable', 'n1', 'node n1 did not answer', {
    hint: 'Look at it.',
  });
  const refused = new SudoRefusal('bob', 'test', 'sudo: a password is required').on('n1');
  const throwing = () => {
    throw refused;
  };

  test('reports an unreachable node, with no command to run there', async () => {
    const { code, problems, err } = await check(away);
    expect({ code, problems }).toEqual({
      code: 1,
      problems: [
        { check: 'reachable', ok: false, message: 'node n1 did not answer', hint: 'Look at it.' },
      ],
    });
    expect(JSON.parse(err)).toMatchObject({ reason: 'NodeUnreachable', hint: 'Look at it.' });
    // The output has no command to run on the node.
    const { out } = await stowage(['check', 'node', 'n1'], world({ n1: away }));
    expect(out).not.toContain('# ');
  });

  test.each<[code: 'NodeUnreachable' | 'LoginRefused', flags: string[], command: string]>([
    ['NodeUnreachable', [], 'ssh n1 true'],
    ['LoginRefused', ['--ssh-config', '/etc/ssh cfg'], "ssh -F '/etc/ssh cfg' n1 true"],
    ['NodeUnreachable', ['--ssh-guard'], 'ssh n1 true </dev/null'],
  ])('prints the login command of its flags for %s: %j', async (code, flags, command) => {
    const why = refuse(code, { node: 'n1', said: 'no' });
    expect(why.hint).toBe('Check the node: stowage check node n1');
    const failing = world({ n1: nodeError('unreachable', 'n1', why) });
    const { out, err } = await stowage(['check', 'node', 'n1', '-o', 'json', ...flags], failing);
    const { hint } = JSON.parse(out).checks[0];
    expect(hint.endsWith(`: ${command}`)).toBe(true);
    expect(err).toContain(command);
    expect(`${out}${err}`).not.toContain('stowage check node');
  });

  test('prints the login command for the address of the node', async () => {
    const annotations = { 'stowage.dev/address': '10.0.0.1', 'stowage.dev/port': '2222' };
    const why = refuse('NodeUnreachable', { node: 'n1', said: 'no' });
    const { problems } = await check(nodeError('unreachable', 'n1', why), {
      'nodes/n1': nodeNamed('n1', { annotations }),
    });
    expect(problems[0]?.hint).toMatch(/: ssh -p 2222 -o 'HostKeyAlias=n1' 10\.0\.0\.1 true$/);
  });

  test.each<[string, FakeNodeAnswers, string[]]>([
    ['no command may be run', { probes: { ...OK, udev: throwing } }, ['user']],
    ['tools may not be run', { probes: { ...OK, losetup: throwing } }, ['tools']],
    ['directories may not be read', { probes: { ...OK, [RECORDS]: throwing } }, ['leftovers']],
    [
      'a directory cannot be read',
      { probes: { ...OK, [DIRECTORY]: result(1, '', 'find: I/O error') } },
      ['leftovers'],
    ],
    ['jobs belong to another user', { probes: OK, subjects: refused }, ['jobs']],
  ])('reports the check that fails if %s', async (_, node, names) => {
    const { code, problems } = await check(node);
    expect({ code, names: problems.map((problem) => problem.check) }).toEqual({ code: 5, names });
  });

  test.each<[string, (FakeNodeAnswers | Error)[], number]>([
    ['one of two is unreachable', [{ probes: OK }, away], 7],
    ['one is unreachable, and the other has a problem', [{ probes: MADE }, away], 7],
    ['both are unreachable', [away, away], 1],
    ['one has a problem', [{ probes: MADE }, { probes: OK }], 5],
    ['neither has a problem', [{ probes: OK }, { probes: OK }], 0],
  ])('exits with a status for all nodes if %s', async (_, [n1, n2], code) => {
    const nodes = { n1: n1 as FakeNodeAnswers, n2: n2 as FakeNodeAnswers };
    const outcome = await stowage(['check', 'node', 'n{1..2}'], world(nodes));
    expect(outcome.code).toBe(code);
    expect(outcome.out).toMatch(/^Node n1\n/);
    expect(outcome.out).toContain('\n\nNode n2\n');
    const data = JSON.parse(
      (await stowage(['check', 'node', 'n1', 'n2', '-o', 'json'], world(nodes))).out,
    );
    expect(data.items.map(({ node }: { node: string }) => node)).toEqual(['n1', 'n2']);
  });
});
