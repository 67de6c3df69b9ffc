import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { reason } from '../../src/api/reasons.ts';
import { holds } from '../../src/nodes/check-preconditions.ts';
import type { ProbeResult } from '../../src/nodes/job.ts';
import {
  kubeletProbe,
  kubeletUse,
  notOfKubelet,
  readKubelet,
  refuseStale,
} from '../../src/storage/kubelet.ts';
import { plan } from '../../src/storage/plan.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';
import { lvmDesired, lvmMade } from '../support/lvm-input.ts';
import { disk, rawDesired, rawMade } from '../support/raw-input.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { UID } from '../support/volume-input.ts';

const MOUNTS = 'plugins/kubernetes.io/local-volume/mounts';
const DEVICES = 'plugins/kubernetes.io~local-volume/volumeDevices';
const POD = '7c0a6d8e-5c0c-4a5b-8d0e-0c8e4bb3b1a1';
const VOLUMES = `pods/${POD}/volumes/kubernetes.io~local-volume`;
const POD_DEVICES = `pods/${POD}/volumeDevices/kubernetes.io~local-volume`;
const NONE = { mounts: new Map<string, string[]>() };

describe('the real find(1)', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let place: { name: string; kubeletRoot: string };
  beforeEach(async () => {
    folder = await temporaryDirectory('kubelet');
    place = { name: 'data1', kubeletRoot: join(folder.path, 'kubelet') };
  });
  afterEach(() => folder.remove());

  /** Creates paths. A path that ends in / is a directory, and one with -> a symbolic link. */
  async function make(paths: readonly string[]): Promise<void> {
    for (const each of paths) {
      const [path = '', target] = each.split(' -> ');
      const full = join(place.kubeletRoot, path);
      await mkdir(path.endsWith('/') ? full : dirname(full), { recursive: true });
      if (target !== undefined) await symlink(target, full);
      else if (!path.endsWith('/')) await writeFile(full, path.endsWith('left') ? '' : 'x');
    }
  }

  async function look(): Promise<ProbeResult> {
    const [program = '', ...args] = kubeletProbe(place).argv;
    const { exitCode, stdout, stderr } = await execa(program, args, {
      reject: false,
      env: { LC_ALL: 'C' },
    });
    return { exit: exitCode ?? -1, stdout, stderr };
  }

  test.each<[string, string[], string[]]>([
    ['no root directory', [], []],
    ['a node without pods', [`${MOUNTS}/`, 'pods/'], []],
    ['data below the mount point', [`${MOUNTS}/data1/a/b/c/d`], [`${MOUNTS}/data1`]],
    ['data in a pod’s directory', [`${VOLUMES}/data1/a`], [`${VOLUMES}/data1`]],
    ['a device that is bound', [`${DEVICES}/data1/${POD}`], [`${DEVICES}/data1/${POD}`]],
    [
      'a pod’s link to a missing device',
      [`${POD_DEVICES}/data1 -> /dev/none`],
      [`${POD_DEVICES}/data1`],
    ],
    [
      'empty directories, and files left by a restart',
      [`${MOUNTS}/data1/`, `${VOLUMES}/data1/`, `${DEVICES}/data1/left`],
      [],
    ],
    [
      'other volumes',
      [
        `${MOUNTS}/data10/a`,
        `${VOLUMES}/data2/data1/a`,
        `${DEVICES}/data/${POD}`,
        `${DEVICES}/data1x/data1`,
        `pods/${POD}/volumes/kubernetes.io~nfs/data1/a`,
        `pods/${POD}/volumes/kubernetes.io~csi/data1/kubernetes.io~local-volume/data1/a`,
        `pods/${POD}/plugins/data1/a`,
        'pods/data1/a',
      ],
      [],
    ],
  ])('lists the kubelet’s paths of a volume: %s', async (_, paths, expected) => {
    await make(paths);
    const result = await look();
    const full = expected.map((path) => join(place.kubeletRoot, path));
    expect(readKubelet(place, result, NONE)).toEqual(full);
    expect(holds(notOfKubelet(place).expect, result)).toBe(expected.length === 0);
  });

  test('follows symbolic links to the root directory and its pods', async () => {
    await mkdir(join(folder.path, 'real', VOLUMES, 'data1', 'a'), { recursive: true });
    await mkdir(place.kubeletRoot);
    await symlink(join(folder.path, 'real', 'pods'), join(place.kubeletRoot, 'pods'));
    const through = { ...place, kubeletRoot: join(folder.path, 'link') };
    await symlink(place.kubeletRoot, through.kubeletRoot);
    place = through;
    expect(readKubelet(place, await look(), NONE)).toEqual([
      join(through.kubeletRoot, VOLUMES, 'data1'),
    ]);
  });
});

const place = { name: 'data1', kubeletRoot: '/k' };
const answer = (stderr = '', stdout = '/dev/null'): ProbeResult => ({
  exit: stderr === '' ? 0 : 1,
  stdout,
  stderr,
});

test.each([
  [`/k/${MOUNTS}/data1`, true],
  ['/elsewhere/plugins/kubernetes.io/local-volume/mounts/data1', true],
  [`/k/${VOLUMES}/data1`, true],
  [`/k/${DEVICES}/data1/${POD}`, true],
  [`/k/${MOUNTS}/data2`, false],
  [`/k/${VOLUMES}/data2`, false],
  [`/k/${DEVICES}/data2/data1`, false],
  [`/k/pods/${POD}/volumes/kubernetes.io~csi/data1`, false],
  ['/mnt/data1', false],
])('a mount at %s counts as use: %j', (point, counts) => {
  const found = readKubelet(place, answer(), { mounts: new Map([['7:3', ['/', point]]]) });
  expect(found).toEqual(counts ? [point] : []);
});

test('readKubelet reports a mount that find also lists only once', () => {
  const folder = `/k/${VOLUMES}/data1`;
  const mounts = new Map([['7:3', [folder]]]);
  expect(readKubelet(place, answer('', `${folder}\n/dev/null`), { mounts })).toEqual([folder]);
});

test.each([
  [`find: '/k/${MOUNTS}/data1': Input/output error`, [`/k/${MOUNTS}/data1`]],
  [`find: '/k/${VOLUMES}/data1': Structure needs cleaning`, [`/k/${VOLUMES}/data1`]],
  [`find: '/k/${VOLUMES}/data2': Input/output error`, []],
  ["find: '/k/pods': No such file or directory", []],
])('readKubelet counts a mount point that find cannot read as use: %s', (stderr, found) => {
  expect(readKubelet(place, answer(stderr), NONE)).toEqual(found);
});

test.each([
  ['truncated output of find', answer('', `/k/${MOUNTS}/data1`)],
  ['empty output of find', answer('', '')],
  ['bound devices that cannot be read', answer(`find: '/k/${DEVICES}/data1': Input/output error`)],
  ['pods that cannot be read', answer("find: '/k/pods': Permission denied")],
  ['an unknown option', answer("find: unknown predicate '-ignore_readdir_race'")],
])('readKubelet throws on %s', (_, result) => {
  expect(() => readKubelet(place, result, NONE)).toThrow(ObservationError);
});

test.each([
  [[], undefined],
  [[`/k/${MOUNTS}/data1`], `the kubelet has /k/${MOUNTS}/data1`],
  [
    [`/k/${MOUNTS}/data1`, `/k/${VOLUMES}/data1`],
    `the kubelet has /k/${VOLUMES}/data1 for the pod with the UID ${POD}`,
  ],
  [
    [`/k/${POD_DEVICES}/data1`],
    `the kubelet has /k/${POD_DEVICES}/data1 for the pod with the UID ${POD}`,
  ],
  [
    [`/k/${DEVICES}/data1/${POD}`],
    `the kubelet has /k/${DEVICES}/data1/${POD} for the pod with the UID ${POD}`,
  ],
])('kubeletUse describes what the kubelet has of a volume: %j', (folders, text) =>
  expect(kubeletUse(folders)).toBe(text),
);

test.each<[string, string, string[], boolean]>([
  ['its own device', `/k/${MOUNTS}/data1`, ['7:3'], false],
  ['another device', `/k/${MOUNTS}/data1`, ['7:4'], true],
  ['a device while the volume has none', `/k/${VOLUMES}/data1`, [], true],
  ['a bound device while the volume has one', `/k/${DEVICES}/data1/${POD}`, ['7:4'], false],
  ['a bound device while the volume has none', `/k/${DEVICES}/data1/${POD}`, [], true],
  ['another volume', `/k/${MOUNTS}/data2`, [], false],
])('refuseStale decides whether a mount of %s at %s is stale', (_, point, own, stale) => {
  const mounts = new Map([['7:3', [point]]]);
  const refused = refuseStale(
    place,
    { mounts },
    own.map((device) => ({ device })),
  );
  expect(refused).toEqual(
    stale
      ? {
          reason: reason('KubeletMountsAnother', { volume: 'data1', mountPoint: point }),
          refusal: expect.stringContaining(`mounted at ${point}`),
          hint: expect.any(String),
          retryable: true,
        }
      : undefined,
  );
});

const carries = {
  signature: { found: 'one', type: 'ext4', uuid: UID },
  content: `ext4:${UID}`,
  uuids: [UID],
} as const;
const made = { ...disk, ...carries };
test.each([
  ['a disk', made.device, rawDesired, rawMade(made, { link: made.device })],
  ['a logical volume', '253:3', lvmDesired, lvmMade()],
] as const)(
  'an attach is refused over a stale mount of an earlier volume: %s',
  (_, device, desired, observed) => {
    const mounted = (number: string) => ({
      ...observed,
      mounts: new Map([[number, [`/k/${MOUNTS}/data1`]]]),
    });
    expect(plan('attach', desired, mounted(device), 0)).toEqual({ steps: [] });
    expect(plan('attach', desired, mounted('7:99'), 0)).toMatchObject({
      refusal: expect.stringContaining('the kubelet has another volume named data1'),
    });
  },
);
