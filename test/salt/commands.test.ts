import { expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import type { Step } from '../../src/nodes/job.ts';
import { plan } from '../../src/storage/plan.ts';
import type { DesiredRaw, DesiredSparse, Operation } from '../../src/storage/types.ts';
import { FakeDisks, fakeDisk, Raced } from '../support/fake-disk.ts';
import { FakeNode } from '../support/fake-node.ts';
import { rawDesired } from '../support/raw-input.ts';
import { FILE, UID } from '../support/volume-input.ts';

/** Each starts a Python, which reads hundreds of patterns. */
jest.setTimeout(30_000);

const CHECK = `
import json, sys
from stowage_node import allowed
rules = allowed.Rules("", [], ["/var/lib/metalk8s/storage/sparse"], ["/dev/sdb"], ["vg0"])
for step in json.load(sys.stdin):
    try:
        rules.check_step(step)
    except allowed.Refusal as refusal:
        print(refusal.command, refusal)
`;

/** What the module says of steps: a line for each that it refuses. */
async function refused(steps: readonly Step[]): Promise<string> {
  const how = { input: JSON.stringify(steps), env: { PYTHONPATH: 'salt/_modules' } };
  return (await execa('python3', ['-B', '-c', CHECK], how)).stdout;
}

/** None that the machine has: the module looks at what is on it. */
const LOOP = 900;

const OPERATIONS: Operation[] = ['prepare', 'absent', 'present', 'destroy'];
const CONTENTS = [
  { mode: 'Filesystem', fs: { type: 'ext4', options: ['-m', '0'] } },
  { mode: 'Filesystem', fs: { type: 'xfs', options: [] } },
  { mode: 'Block', fs: undefined },
] as const;

function planned(made: ReturnType<typeof plan>): readonly Step[] {
  if ('refusal' in made) throw new Error(made.refusal);
  return made.steps;
}

const sparse = (content: (typeof CONTENTS)[number], more: Partial<DesiredSparse>): DesiredSparse => ({
  ...{ type: 'sparse', uid: UID, name: 'data1', file: FILE, sizeBytes: 1n << 30n },
  ...{ ...content, recorded: false, onDelete: 'Delete', ...more },
});

test.each(CONTENTS)('the module runs the steps that make sparse files, with %j', async (content) => {
  const desired = sparse(content, {});
  const steps = planned(plan('prepare', desired, new FakeNode().observe(desired), LOOP));
  expect(steps.length).toBeGreaterThan(5);
  expect(await refused(steps)).toBe('');
});

test.each(['Delete', 'Wipe'] as const)(
  'those of all that comes after, to the end by %s',
  async (onDelete) => {
    const node = new FakeNode();
    const steps: Step[] = [];
    for (const operation of OPERATIONS) {
      const desired = sparse(CONTENTS[0], { recorded: operation !== 'prepare', onDelete });
      const next = planned(plan(operation, desired, node.observe(desired), LOOP));
      steps.push(...next);
      // The end is not carried out: this node has nothing to wipe with.
      if (operation !== 'destroy') node.run(next);
    }
    expect(steps.length).toBeGreaterThan(10);
    expect(await refused(steps)).toBe('');
  },
);

test.each(CONTENTS)('and those of a listed disk, with %j', async (content) => {
  const node = new FakeDisks(fakeDisk('sdb', { id: 'ours' }));
  const steps: Step[] = [];
  for (const operation of OPERATIONS) {
    for (let round = 0; round < 4; round++) {
      const desired: DesiredRaw = {
        ...rawDesired,
        ...content,
        uid: UID,
        devicePath: '/dev/disk/by-id/ours',
        overwrite: undefined,
        onDelete: 'Delete',
        recorded: operation !== 'prepare',
      };
      const next = planned(plan(operation, desired, node.observe(desired), 0));
      steps.push(...next);
      try {
        node.run(next);
      } catch (error) {
        if (!(error instanceof Raced)) throw error;
      }
    }
  }
  expect(steps.length).toBeGreaterThan(5);
  expect(await refused(steps)).toBe('');
});

test.each([
  [['wipefs', '--all', '--force', '/dev/sdc']],
  [['wipefs', '--all', '--force', '/dev/dm-77']],
  [['lvchange', '--activate', 'n', 'vg1/data1']],
  [['lvchange', '--activate', 'n', 'vg1/pool_tmeta']],
  [['lvchange', '--activate', 'y', 'vg0/pool_tmeta']],
])('and none of what is not listed: %j', async (argv) => {
  expect(await refused([{ name: 'x', argv, guards: [] }])).toMatch(
    /no command on its list|of a listed group/,
  );
});
