import fc from 'fast-check';
import type { ProbeResult } from '../../src/nodes/job.ts';
import { readDirectories } from '../../src/storage/node-check/files.ts';
import { systemProbes } from '../../src/storage/node-check/system.ts';
import { observe } from '../../src/storage/observe.ts';
import { plan } from '../../src/storage/plan.ts';
import { readMade } from '../../src/storage/populate/backup.ts';
import { readProgress } from '../../src/storage/populate/progress.ts';
import { answersOf, ObservationError } from '../../src/storage/probe-results.ts';
import type { Desired } from '../../src/storage/registry.ts';
import { readSnapshot, snapshotProbes } from '../../src/storage/snapshot/observe.ts';
import { planSnapshot } from '../../src/storage/snapshot/plan.ts';
import { missing } from '../support/fake-executor.ts';
import { lvmDesired } from '../support/lvm-input.ts';
import { rawDesired } from '../support/raw-input.ts';
import { wantedCopy } from '../support/snapshot-copy.ts';
import { sparseDesired, UID } from '../support/volume-input.ts';
import { collect, throughShell } from './command-lines.ts';
import { identity } from './hostile.ts';
import { probesAnswering, results } from './nodes.ts';
import { type Target, tame } from './target.ts';

const OPERATIONS = ['provision', 'attach', 'detach', 'delete'] as const;

/** Number of plans with steps. */
let planned = 0;

const desired: fc.Arbitrary<Desired> = fc
  .record({
    base: fc.constantFrom<Desired>(sparseDesired, rawDesired, lvmDesired, {
      ...lvmDesired,
      thinPool: 'pool',
    }),
    isBlock: fc.boolean(),
    recorded: fc.boolean(),
    onDelete: fc.constantFrom('Delete', 'Retain', 'Wipe'),
    shared: fc.boolean(),
    readOnly: fc.boolean(),
    overwrite: fc.constantFrom(undefined, 'unknown data', `ext4:${UID}`),
    // Anyone with access to a status can write this field.
    identity: fc.option(identity, { nil: undefined }),
  })
  .map(({ base, isBlock, overwrite, identity: known, shared, readOnly, ...more }) => ({
    ...base,
    ...more,
    ...(isBlock ? { mode: 'Block', fs: undefined } : {}),
    ...(base.type === 'sparse'
      ? { readOnly, ...(shared && { shared, owner: { node: 'n1', token: 't' } }) }
      : { overwrite, identity: known }),
  })) as fc.Arbitrary<Desired>;

/** Targets for answers of a node and the plans made from them. */
export const OBSERVATIONS: readonly Target[] = [
  {
    name: 'observations of a volume, and the plans made of them',
    share: 0.2,
    property: () =>
      fc.asyncProperty(desired, results, (wanted, answers) =>
        tame(async () => {
          const observed = await observe(probesAnswering(answers, wanted.type), wanted);
          for (const operation of OPERATIONS) {
            const made = plan(operation, wanted, observed, 3);
            if ('steps' in made) {
              planned += 1;
              collect(made.steps);
            }
          }
        }, ObservationError),
      ),
    after() {
      throughShell();
      // Inputs that are all refused would leave the code behind the checks untested.
      if (planned < 100) throw new Error(`only ${planned} plans had steps`);
    },
  },
  {
    name: 'observations of snapshots, backups and directories',
    share: 0.1,
    property: () =>
      fc.asyncProperty(results, async (answers) => {
        const look = probesAnswering(answers);
        await tame(async () => {
          const seen = readSnapshot(wantedCopy, await look(snapshotProbes(wantedCopy)));
          for (const operation of ['take', 'delete'] as const) {
            const made = planSnapshot(operation, wantedCopy, seen);
            if ('steps' in made) collect(made.steps);
          }
        }, ObservationError);
        const get = (_name: string) =>
          (answers.find((each) => each !== null) ?? missing) as ProbeResult;
        await tame(() => readDirectories(['/srv'], get), ObservationError);
        await tame(() => readMade(new Map([['made', get('')]])), ObservationError);
        await tame(() => readProgress(get('').stdout));
        await tame(() => answersOf(new Map())(systemProbes(true)[0]?.name ?? ''), ObservationError);
      }),
    after: throughShell,
  },
];
