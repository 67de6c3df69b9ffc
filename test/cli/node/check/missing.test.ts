import { describe, expect, test } from '@jest/globals';
import { type Explanation, explain, type Reason } from '../../../../src/api/reasons.ts';
import type { Volume } from '../../../../src/api/volume.ts';
import { type FakeNodeAnswers, missing, result } from '../../../support/fake-executor.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { refusal } from '../../../support/refusals.ts';
import {
  check,
  DIRECTORY,
  dataOne,
  FILE,
  MADE,
  made,
  type Probes,
  RECORDS,
  UID,
  volume,
  withProbes,
  world,
} from './checked-node.ts';

describe('check node on a Volume that is being deleted', () => {
  const used = (end: { command: string } | { use: string }) =>
    explain('DeviceInUse', {
      ...{ device: '/dev/loop0', uses: 'held by /dev/md127 (raid1)' },
      ...end,
    });
  const USED = used({ use: 'that' });
  const held = (why: Explanation, more: object = {}, node = 'n1') =>
    dataOne({
      metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', ...more },
      status: {
        ...made.status,
        attachments: [
          {
            ...{ node, state: 'Attached', safeToMount: true, safeToDetach: false },
            ...{ pods: [], since: '2026-01-01T00:00:00Z' },
            ...(why as Explanation & { detail?: Reason }),
          },
        ],
      },
    });

  test.each<[string, World['objects'], object[]]>([
    [
      'names the holder and the command',
      held(used({ command: 'mdadm --stop /dev/md127' })),
      [
        {
          message: expect.stringContaining('/dev/md127 (raid1)'),
          command: 'mdadm --stop /dev/md127',
        },
      ],
    ],
    [
      'names a holder without a known command',
      held(USED),
      [{ message: expect.stringContaining(USED.message) }],
    ],
    ['ignores a holder on another node', held(USED, {}, 'n2'), []],
    [
      'reports a reason without parameters, as others may write it',
      held({ message: 'in use', detail: { code: 'DeviceInUse' } as Reason }),
      [{ message: expect.stringContaining('in use') }],
    ],
    ['reports nothing during a detach', held(explain('OperationUnderWay', { step: 'detach' })), []],
    [
      'reports nothing without a deletion timestamp',
      held(USED, { deletionTimestamp: undefined }),
      [],
    ],
  ])('%s', async (_, objects, expected) => {
    const { problems } = await check({ probes: MADE }, objects);
    expect(problems.filter(({ check }) => check === 'Volume data1')).toMatchObject(expected);
  });
});

describe('check node after the API server was restored to before a delete', () => {
  const gone = { [DIRECTORY]: missing, [RECORDS]: missing, loops: result(0) };
  const link = `path /dev/disk/by-id/stowage-${UID}`;
  const earlier = `path /dev/disk/by-uuid/${UID}`;
  const raw = (status: Volume['status']): World['objects'] => {
    const { sparseLoopDevice: _, ...spec } = made.spec;
    return dataOne({
      spec: { ...spec, rawBlockDevice: { devicePath: '/dev/sdx' } },
      ...(status && { status }),
    });
  };
  const prepared = { node: 'n1', paths: ['/dev/sdx'], identity: 'wwn=1' };

  test.each<[string, Probes, World['objects'], string | undefined]>([
    [
      'file and records',
      { ...gone, [link]: result(1) },
      volume,
      `its file ${FILE} is missing, and so are its records`,
    ],
    ['the file', { [DIRECTORY]: missing }, volume, `its file ${FILE} is missing`],
    [
      'the file, with a partial one',
      { [DIRECTORY]: result(0, `f 1 ${UID}.partial`) },
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
      'a raw device',
      { ...gone, [link]: result(1) },
      raw({ prepared }),
      'the node has neither a record of it nor its device',
    ],
    ['a raw device that MetalK8s provisioned', gone, raw({ prepared }), undefined],
    [
      'a raw device of an earlier version, at its path',
      { ...gone, [link]: result(1), [earlier]: result(0) },
      raw({ prepared, devicePath: `/dev/disk/by-uuid/${UID}` }),
      undefined,
    ],
    [
      'a missing raw device of an earlier version',
      { ...gone, [earlier]: result(1) },
      raw({ prepared, devicePath: `/dev/disk/by-uuid/${UID}` }),
      'the node has neither a record of it nor its device',
    ],
    [
      'a raw device whose status names another path',
      { ...gone, [link]: result(1) },
      raw({ prepared, devicePath: '/dev/sda' }),
      'the node has neither a record of it nor its device',
    ],
    ['a Volume that is not provisioned yet', { ...gone }, dataOne({ status: {} }), undefined],
    [
      'a Volume of another node',
      { ...gone },
      dataOne({ status: { prepared: { node: 'n2', paths: [FILE], identity: '' } } }),
      undefined,
    ],
    [
      'a Volume that is being deleted',
      { ...gone },
      dataOne({ metadata: { ...made.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }),
      undefined,
    ],
    [
      'a Volume whose status names another file',
      { ...gone },
      dataOne({ status: { prepared: { node: 'n1', paths: ['/etc/passwd'], identity: '' } } }),
      undefined,
    ],
  ])('checks for missing storage: %s', async (_, probes, objects, expected) => {
    const { code, problems } = await check(withProbes(MADE, probes), objects);
    expect(problems).toEqual(
      expected === undefined
        ? []
        : [
            {
              check: 'Volume data1',
              ok: false,
              message: `it was provisioned here, and ${expected}`,
              hint: expect.stringContaining('stowage delete volume data1'),
            },
          ],
    );
    expect(code).toBe(expected === undefined ? 0 : 5);
  });
});

test('check node adds the cluster of the run to hints', async () => {
  const { problems } = await check(
    withProbes(MADE, { [DIRECTORY]: missing }),
    volume,
    ...['--context', 'c'],
  );
  expect(problems[0]?.hint).toMatch(/: stowage --context c delete volume data1$/);
});

describe('check node while objects change', () => {
  /** Runs the check with objects that change while the node is observed. */
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

  test('reports no leftovers of a Volume that was created meanwhile', async () => {
    expect(await changing({}, volume, MADE)).toMatchObject({ code: 0, problems: [] });
  });

  test('reports nothing about a Volume that was deleted meanwhile', async () => {
    expect(await changing(volume, {}, MADE)).toMatchObject({ code: 0, problems: [] });
    const probes = { ...MADE, [DIRECTORY]: missing, [RECORDS]: missing };
    expect(await changing(volume, {}, probes)).toMatchObject({ code: 0, problems: [] });
  });

  test('names the CRDs and how to install them if the cluster has no Volumes', async () => {
    const failures = { 'list volumes/*': refusal(404) };
    const there = { ...world({ n1: { probes: MADE } }, {}), failures };
    expect(await stowage(['check', 'node', 'n1', '--context', 'c'], there)).toMatchObject({
      ...{ code: 3, out: '' },
      err: 'error: the CRDs of Stowage are not installed: the cluster has no kind Volume\nhint: Install them, then check the node again: stowage --context c install --components crds\n',
    });
  });

  test('works without the CRD of Leftovers', async () => {
    const failures = { 'list leftovers/*': refusal(404) };
    const there = { ...world({ n1: { probes: MADE } }, volume), failures };
    expect(await stowage(['check', 'node', 'n1'], there)).toMatchObject({ code: 0 });
  });
});
