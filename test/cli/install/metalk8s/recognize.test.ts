import { expect, test } from '@jest/globals';
import { reason } from '../../../../src/api/reasons.ts';
import { recognize } from '../../../../src/cli/install/metalk8s/recognize.ts';
import type { Executor, Probe, ProbeResult } from '../../../../src/nodes/job.ts';
import { BY_PARTUUID, BY_UUID, byMapper } from '../../../support/link-words.ts';
import { FRESH, MADE, missing, result } from '../../../support/sparse-answers.ts';
import { pv, UID, volume } from '../../../support/volume-input.ts';

const its = volume({ conditions: [{ type: 'Ready', status: 'True' }] });
/** MetalK8s keeps no records. The path does not exist while the file is not attached. */
const bare = { ...MADE, intent: missing, done: missing, records: FRESH.records as ProbeResult };

function recognized(path?: string) {
  const asked: string[] = [];
  const executor = {
    observe: async (_node: string, probes: readonly Probe[]) => {
      asked.push(...probes.map(({ argv }) => argv.join(' ')));
      return new Map(
        probes.map(({ name }) => [name, bare[name as keyof typeof bare] ?? result(0)]),
      );
    },
  } as unknown as Executor;
  const spec = { ...pv('Bound').spec, ...(path !== undefined && { local: { path } }) };
  return { found: recognize(its, { ...pv('Bound'), spec }, executor, [its]), asked };
}

test('a Volume of MetalK8s keeps the path that its PersistentVolume has', async () => {
  const { found, asked } = recognized(BY_UUID);
  expect(await found).toMatchObject({ status: { phase: 'Available', devicePath: BY_UUID } });
  expect(asked).toContain(`stat -L -c %t:%T ${BY_UUID}`);
});

test.each([
  ['no path', undefined, 'no local path'],
  ['a device', '/dev/sda', '/dev/sda'],
  ['the path of another Volume', BY_UUID.replace(UID, 'x'), BY_UUID.replace(UID, 'x')],
  ['a path of the other mode', BY_PARTUUID, BY_PARTUUID],
  ['a logical volume in mode Filesystem', byMapper('LVM-abc'), byMapper('LVM-abc')],
])(
  'a Volume whose PersistentVolume refers to %s is refused before its node is probed',
  async (_, path, told) => {
    const { found, asked } = recognized(path);
    expect(await found).toEqual({
      refusal: `its PersistentVolume leads to ${told}, which is not a path of its device`,
      hint: expect.stringContaining('MetalK8s creates none with such a path'),
      reason: reason('Metalk8sPathForeign', { path: told }),
    });
    expect(asked).toEqual([]);
  },
);
