import type { Volume } from '../../../../src/api/volume.ts';
import type { Check } from '../../../../src/cli/lib/checks/report.ts';
import { freeSpaceProbes } from '../../../../src/storage/free-space.ts';
import { formProbes } from '../../../../src/storage/node-check/forms.ts';
import { TOOLS } from '../../../../src/storage/node-check/tools.ts';
import { NOW } from '../../../support/cluster-objects.ts';
import {
  EMPTY_NODE,
  type FakeNodeAnswers,
  fakeExecutor,
  missing,
  result,
} from '../../../support/fake-executor.ts';
import { stowage, type World } from '../../../support/fake-io.ts';
import { understood } from '../../../support/form-answers.ts';
import { volumeNamed } from '../../../support/volumes.ts';

/** A node that passes all checks, and a node with a Volume. */

export const UID = '11111111-2222-4333-8444-555555555555';
export const OTHER = '99999999-2222-4333-8444-555555555555';
export const DIRECTORY = '/var/lib/metalk8s/storage/sparse';
export const RECORDS = '/var/lib/stowage/volumes';
export const FILE = `${DIRECTORY}/${UID}`;

export const intent = (uid: string, place: object) =>
  JSON.stringify({
    ...{ version: 1, uid, ...place },
    ...{ sizeBytes: '1', fsType: 'ext4', signature: 'none', consent: 'none' },
  });
export const loop = (file: string) => {
  const device = { name: '/dev/loop0', 'back-file': file, 'back-ino': 7, 'maj:min': '7:0' };
  const flags = { autoclear: false, ro: false, offset: 0, sizelimit: 0 };
  return result(0, JSON.stringify({ loopdevices: [{ ...device, ...flags }] }));
};

/** Returns free space in GiB for a directory and its parents. */
export const freeIn = (folder: string, size: number) =>
  Object.fromEntries(
    freeSpaceProbes(folder).map(({ name }) => [name, result(0, `${size * 4096}|${1 << 18}\n`)]),
  );
export const OK: FakeNodeAnswers['probes'] = {
  ...EMPTY_NODE,
  ...Object.fromEntries(TOOLS.map(({ name }) => [name, result(0)])),
  ...Object.fromEntries(formProbes().map(({ name, argv }) => [name, understood(argv)])),
  date: result(0, `${NOW / 1000}\n`),
  kernel: result(0, '6.12.43\n'),
  'loop-control': result(0),
  commands: result(0),
  ...freeIn(DIRECTORY, 100),
  [RECORDS]: missing,
  'recorded directories': missing,
  [DIRECTORY]: missing,
};
/** State of a node with the Volume of UID. */
export const MADE: FakeNodeAnswers['probes'] = {
  ...OK,
  loops: loop(FILE),
  [RECORDS]: result(0, `f 90 ${UID}.intent\nf 12 ${UID}.done`),
  [DIRECTORY]: result(0, `f 1073741824 ${UID}`),
  [`intent ${UID}`]: result(0, intent(UID, { file: FILE })),
  [`path /dev/disk/by-id/stowage-${UID}`]: result(0),
};
export const made: Volume = {
  ...volumeNamed('data1', {
    phase: 'Available',
    prepared: { node: 'n1', paths: [FILE], identity: '1:2' },
  }),
  metadata: { name: 'data1', uid: UID },
};

export const dataOne = (parts: Partial<Volume>): Record<string, Volume> => ({
  'volumes/data1': { ...made, ...parts },
});
export const world = (
  nodes: Parameters<typeof fakeExecutor>[0],
  objects: World['objects'] = {},
) => ({
  executor: fakeExecutor(nodes),
  objects,
});
export async function check(
  node: FakeNodeAnswers | Error,
  objects: World['objects'] = {},
  ...more: readonly string[]
) {
  const { code, out, err } = await stowage(
    ['check', 'node', 'n1', '-o', 'json', ...more],
    world({ n1: node }, objects),
  );
  const checks: Check[] = JSON.parse(out).checks;
  return { code, err, checks, problems: checks.filter(({ ok }) => !ok) };
}
export const volume = { 'volumes/data1': made };

/** Probe results that differ from a node's defaults. */
export type Probes = Partial<FakeNodeAnswers['probes']>;
export const withProbes = (base: FakeNodeAnswers['probes'], changed: Probes): FakeNodeAnswers => ({
  probes: { ...base, ...changed } as FakeNodeAnswers['probes'],
});
