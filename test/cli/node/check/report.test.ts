import { describe, expect, test } from '@jest/globals';
import { NodeError } from '../../../../src/nodes/errors.ts';
import { TOOLS } from '../../../../src/storage/node-check/tools.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import {
  type FakeNodeAnswers,
  fakeExecutor,
  missing,
  result,
} from '../../../support/fake-executor.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import {
  check,
  DIRECTORY,
  dataOne,
  FILE,
  intent,
  loop,
  MADE,
  OK,
  RECORDS,
  UID,
  volume,
  world,
} from './checked-node.ts';

describe('check node on a node without problems', () => {
  test.each<[string, FakeNodeAnswers, World['objects']]>([
    ['without storage', { probes: OK }, {}],
    ['with a Volume', { probes: MADE, subjects: [UID] }, volume],
    [
      'with a Leftover that is to be removed',
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
      'with a Volume that is being provisioned',
      {
        probes: { ...MADE, [DIRECTORY]: result(0, `f 5 ${UID}.partial`), [RECORDS]: missing },
        subjects: [UID],
      },
      dataOne({ status: { phase: 'Pending' } }),
    ],
    [
      'with a Volume of MetalK8s, which keeps no records',
      { probes: { ...MADE, [RECORDS]: missing } },
      volume,
    ],
    [
      'with a Volume that is not attached now',
      { probes: { ...MADE, loops: result(0), [`path /dev/disk/by-id/stowage-${UID}`]: result(1) } },
      volume,
    ],
    [
      'with files that are not named after Volumes',
      {
        probes: {
          ...OK,
          [DIRECTORY]: result(
            0,
            `f 5 my-own-file-is-here\nf 5 ${UID}.orig-1\nf 5 g${UID.slice(1)}`,
          ),
        },
      },
      {},
    ],
    ['with loop devices of other files', { probes: { ...OK, loops: loop(`/srv/${UID}`) } }, {}],
  ])('%s', async (_, node, objects) => {
    const { code, problems, err } = await check(node, objects);
    expect({ code, problems, err }).toEqual({ code: 0, problems: [], err: '' });
  });

  test('prints a line for each check', async () => {
    const { out } = await stowage(['check', 'node', 'n1'], world({ n1: { probes: OK } }));
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^CHECK +RESULT +WHAT$/);
    // Reached, user, udev, kernel, clock, programs, tools, space, leftovers.
    expect(lines).toHaveLength(1 + 6 + TOOLS.length + 2);
    expect(lines.slice(1).every((line) => / OK +/.test(line))).toBe(true);
  });

  test('lists the directory with find, and closes the executor', async () => {
    const executor = fakeExecutor({ n1: { probes: OK } });
    await stowage(['check', 'node', 'n1'], { executor });
    expect(executor.closed).toBe(true);
    expect(executor.asked).toContain(
      `n1: find -H ${DIRECTORY} -mindepth 1 -maxdepth 1 -name *-*-*-*-* -printf %y %s %f\\n`,
    );
  });
});

test.each<[string, FakeNodeAnswers | Error]>([
  ['that answers', { probes: OK }],
  ['that does not answer', new NodeError('unreachable', 'n1', 'node n1: no route to host')],
])('check node reports an invalid address annotation of a node %s', async (_, answers) => {
  const annotations = { 'stowage.dev/address': 'user@host', 'stowage.dev/port': '22' };
  const { problems, code } = await check(answers, { 'nodes/n1': nodeNamed('n1', { annotations }) });
  expect(code).not.toBe(0);
  expect(problems.filter((problem) => problem.check === 'address')).toEqual([
    {
      check: 'address',
      ok: false,
      message: expect.stringContaining('"user@host", but must be a host name or an IP address'),
      hint: 'Correct the annotation, or remove it: kubectl annotate node n1 stowage.dev/address-',
    },
  ]);
});

test('check node prints the commands of fixes below the table, one per line', async () => {
  const { out } = await stowage(['check', 'node', 'n1'], world({ n1: { probes: MADE } }));
  const [, help = ''] = out.split('\n# Fixes, to run as root on n1:\n');
  expect(help.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'losetup -d /dev/loop0',
    expect.stringContaining(`'rm' '--' '${FILE}'`),
    expect.stringContaining(`'rm' '--' '${RECORDS}/${UID}.done'`),
  ]);
});

test('check node prints no command from the text of a record', async () => {
  const probes = {
    ...OK,
    [RECORDS]: result(0, `f 90 ${UID}.intent`),
    [`intent ${UID}`]: result(
      0,
      intent(UID, { device: { path: '/dev/x\nreboot\u001b[2J', identity: '' } }),
    ),
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
