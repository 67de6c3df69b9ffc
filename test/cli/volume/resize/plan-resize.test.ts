import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../../src/api/volume.ts';
import { planExpansion } from '../../../../src/cli/volume/resize/plan-resize.ts';
import { NodeError } from '../../../../src/nodes/errors.ts';
import type { Desired, Observed } from '../../../../src/storage/registry.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import { EMPTY_NODE, fakeExecutor } from '../../../support/fake-executor.ts';
import { stowage } from '../../../support/fake-io.ts';
import { ext4, free, GIB, lvmDesired, lvmMade } from '../../../support/lvm-input.ts';
import { MADE, missing, result } from '../../../support/sparse-answers.ts';
import {
  FILE,
  loopRow,
  madeNode,
  readyNode,
  sparseDesired,
  UID,
  volume,
} from '../../../support/volume-input.ts';

const made = { ...sparseDesired, recorded: true };
const larger = { ...made, sizeBytes: 2n << 30n };
const lv = { ...lvmDesired, recorded: true, sizeBytes: 2n * GIB };

/** Node with a Block volume of MetalK8s, of which it has no record. */
const foreign: Observed = {
  ...{ ...readyNode, intent: undefined, done: undefined, link: '259:1' },
  signature: { found: 'one', type: 'gpt', uuid: UID },
  devices: [
    loopRow,
    { ...loopRow, name: 'loop3p1', device: '259:1', parent: 'loop3', type: 'part' },
  ],
};

const namesOf = (desired: Desired, observed: Observed) => {
  const planned = planExpansion(desired, observed);
  return 'steps' in planned
    ? { ...planned, steps: planned.steps.map(({ argv }) => argv[0]) }
    : planned;
};

describe('an expansion is planned from the state of the node', () => {
  test.each<[string, Desired, Observed, object]>([
    ['a file', larger, readyNode, { steps: expect.arrayContaining(['truncate', 'losetup', 'sh']) }],
    [
      'a file that has its size',
      made,
      readyNode,
      { steps: [], note: 'the device has this size already' },
    ],
    [
      'a detached file',
      larger,
      madeNode,
      { steps: [], note: 'the device is not attached, and is expanded once it is' },
    ],
    [
      'a device that its path does not lead to',
      larger,
      { ...readyNode, link: undefined },
      { steps: [], note: 'the device is attached again first, and then expanded' },
    ],
    [
      'a Block volume whose partition another program made',
      { ...larger, mode: 'Block' },
      foreign,
      { refusal: expect.stringContaining('nothing on the node shows how the partition') },
    ],
    [
      'a logical volume without room',
      lv,
      lvmMade(ext4, { free: [{ ...free, count: 2n }] }),
      { refusal: expect.any(String), reason: expect.objectContaining({ code: 'CannotGrow' }) },
    ],
  ])('%s', (_, desired, observed, planned) => {
    expect(namesOf(desired, observed)).toMatchObject(planned);
  });
});

describe('resize volume --dry-run=plan', () => {
  const ARGV = ['resize', 'volume', 'data1', '2Gi', '--dry-run=plan'];
  const loops = result(
    0,
    JSON.stringify({
      loopdevices: [
        {
          ...{ name: '/dev/loop3', 'back-file': FILE, 'back-ino': 42, 'maj:min': ' 7:3 ' },
          ...{ autoclear: false, ro: false, offset: 0, sizelimit: 0 },
        },
      ],
    }),
  );
  const probes = { ...EMPTY_NODE, ...MADE, loops, link: result(0, '7:3') };
  const given: Volume = volume({ prepared: { node: 'n1', paths: [FILE], identity: '2048:42' } });
  const world = (node: Parameters<typeof fakeExecutor>[0][string]) => ({
    executor: fakeExecutor({ n1: node }),
    objects: { 'volumes/data1': given, 'nodes/n1': nodeNamed('n1') },
  });

  test('prints the commands, and changes nothing', async () => {
    const there = world({ probes });
    const { code, out, requests } = await stowage(ARGV, there);
    expect(code).toBe(0);
    const lines = out.split('\n');
    expect(lines[0]).toBe('# Volume data1 on node n1');
    expect(lines).toContain(`'truncate' '-s' '2147483648' '--' '${FILE}'`);
    expect(requests.filter(({ what }) => what.startsWith('patch'))).toEqual([]);
    expect(there.executor.closed).toBe(true);
  });

  test('prints the steps as JSON', async () => {
    const { out } = await stowage([...ARGV, '-o', 'json'], world({ probes }));
    expect(JSON.parse(out)).toMatchObject({
      ...{ volume: 'data1', node: 'n1', uid: UID },
      steps: expect.arrayContaining([expect.objectContaining({ guards: expect.any(Array) })]),
    });
  });

  test('refuses what the controller would refuse', async () => {
    const gone = { ...probes, file: missing, loops: result(0) };
    const { code, out } = await stowage(ARGV, world({ probes: gone }));
    expect({ code, out }).toEqual({ code: 5, out: '' });
  });

  test('contacts no node for a Volume that is not provisioned', async () => {
    const there = { ...world({ probes }), objects: { 'volumes/data1': volume() } };
    const { code, out, err } = await stowage(ARGV, there);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '# Volume data1 on node n1\n',
      err: 'note: the Volume is not provisioned yet, and gets the size when it is\n',
    });
    expect(there.executor.asked).toEqual([]);
  });

  test('fails if the node does not answer', async () => {
    const away = new NodeError('unreachable', 'n1', 'node n1 did not answer', { hint: 'Look.' });
    const { code, err } = await stowage(ARGV, world(away));
    expect(code).not.toBe(0);
    expect(err).toContain('node n1 did not answer');
  });
});
