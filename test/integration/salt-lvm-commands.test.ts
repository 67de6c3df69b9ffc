import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Probe, Step } from '../../src/nodes/job.ts';
import { stepJson } from '../../src/nodes/step-json.ts';
import { contentProbes } from '../../src/storage/lvm/content.ts';
import { unfinishedTag } from '../../src/storage/lvm/names.ts';
import { lvmProbes } from '../../src/storage/lvm/observe.ts';
import { segmentsProbe } from '../../src/storage/lvm/report.ts';
import { planThinSnapshot, thinProbes } from '../../src/storage/lvm/snapshot.ts';
import { plan } from '../../src/storage/plan.ts';
import type { Plan } from '../../src/storage/types.ts';
import { free, LV_UUID, lv, lvmDesired, pool, thinLv } from '../support/lvm-input.ts';
import { LVM_CASES, type LvmCase, UNTAGGED } from '../support/lvm-plans.ts';
import { VIEW } from '../support/lvm-reports.ts';
import {
  beside,
  left,
  RESTORED_UID,
  restoredThin,
  SNAP_UID,
  snapLv,
  snapped,
  wantedSnap,
} from '../support/thin-input.ts';

/**
 * Checks steps as a job does: all before it begins, when the logical volume may not exist yet, and
 * each again before it runs.
 */
const CHECK = `
import json, re, sys, unittest
from fake_lvm import fake_lvm
from stowage_node import allowed

def job(rules, steps, runs):
    try:
        for step in steps:
            if "guards" not in step:
                rules.check_look(step["argv"])
                continue
            rules.check_step(step)
        for step in steps if runs else []:
            if "lock" in step:
                rules.check_lock(step["lock"])
            for argv in [*(guard["argv"] for guard in step.get("guards", ())), step["argv"]]:
                rules.check(argv)
    except allowed.Refusal as refusal:
        return f"{refusal.command} {refusal}"
    return ""

def said(steps, tags, create, groups, devices):
    made = {"name": "vg0/data1", "uuid": sys.argv[1], "tags": tags, "device": "dm-3"}
    for found in [[], [made]] if create else [[made]]:
        case = unittest.TestCase()
        fake_lvm(case, *found)
        try:
            named = re.search("61-stowage-(.{36})[.]rules", json.dumps(steps))
            refused = job(allowed.Rules("", [], [], devices, groups, named and named[1]), steps, found)
        finally:
            case.doCleanups()
        if refused:
            return refused
    return ""

print(json.dumps([said(**each) for each in json.load(sys.stdin)]))
`;

interface Node {
  /** Tags of the logical volume. */
  tags: string;
  groups: string[];
  devices: string[];
}
const NODE: Node = { tags: lv.tags.join(','), groups: ['vg0'], devices: [] };

/** Returns the refusals of a node's allowlist for each job's steps, or '' for no refusal. */
async function refused(
  jobs: readonly (readonly (Step | Probe)[])[],
  more: Partial<Node>,
  create: readonly boolean[],
) {
  const asked = jobs.map((steps, index) => ({
    steps: steps.map((each) => ('preconditions' in each ? stepJson(each) : each)),
    ...NODE,
    ...more,
    create: create[index] ?? false,
  }));
  const how = { input: JSON.stringify(asked), env: { PYTHONPATH: 'salt/_modules:test/salt' } };
  return JSON.parse((await execa('python3', ['-B', '-c', CHECK, LV_UUID], how)).stdout) as string[];
}

/** Returns the refusals of plans, by purpose. */
async function refusals(
  cases: readonly LvmCase[],
  more: Partial<Node> = {},
): Promise<[string, string][]> {
  const said = await refused(
    cases.map(stepsOf),
    more,
    cases.map(([, , , { volumes }]) => volumes.every(({ name }) => name !== lv.name)),
  );
  return cases.map(([name], index) => [name, said[index] ?? 'nothing']);
}

function stepsOf([, operation, wanted, observed]: LvmCase): readonly Step[] {
  const made = plan(operation, wanted, observed, 0);
  if ('refusal' in made) throw new Error(made.refusal);
  expect(made.steps).not.toEqual([]);
  return made.steps;
}

const nothing = (cases: readonly LvmCase[]) => cases.map(([name]) => [name, '']);

test('a node that lists the volume group allows all steps for logical volumes', async () => {
  expect(await refusals(LVM_CASES)).toEqual(nothing(LVM_CASES));
});

test.each([[[]], [['vg1']]])('a node with only groups %j allows no LVM steps', async (groups) => {
  const said = await refusals(LVM_CASES, { groups });
  expect(
    said.filter(([, why]) => !/the command is not on its list|of a listed volume group/.test(why)),
  ).toEqual([]);
});

test('a logical volume of MetalK8s is changed only if it is listed as a device', async () => {
  expect(await refusals(UNTAGGED, { tags: '', devices: ['/dev/vg0/data1'] })).toEqual(
    nothing(UNTAGGED),
  );
  const said = await refusals(UNTAGGED, { tags: '', devices: ['/dev/vg0/data2'] });
  expect(said.filter(([, why]) => !why.includes('no tag of Stowage,'))).toEqual([]);
});

const steps = (made: Plan) => ('steps' in made ? made.steps : []);
/** A copy with the name of the existing logical volume. */
const copied = { ...restoredThin, name: 'data1' };
const unfinished = { ...left, name: 'data1', tags: [unfinishedTag(RESTORED_UID)] };
const COPIES = [
  steps(plan('provision', copied, beside([snapLv, pool]), 0)),
  steps(plan('provision', copied, beside([unfinished, snapLv, pool]), 0)),
  steps(plan('delete', copied, beside([unfinished, snapLv, pool]), 0)),
];
test('an unfinished copy of a thin volume is changed only with its tag', async () => {
  const tags = unfinishedTag(RESTORED_UID);
  expect(COPIES.map(({ length }) => length > 1)).toEqual([true, true, true]);
  expect(await refused(COPIES, { tags }, [true])).toEqual(['', '', '']);
  const said = await refused(COPIES, { tags: '' }, [true]);
  expect(said.filter((why) => !why.includes('no tag of Stowage,'))).toEqual([]);
});

test('thin snapshots and their probes are allowed in a listed volume group', async () => {
  const wanted = { ...wantedSnap, name: 'data1' };
  const half = { ...left, name: 'data1' };
  const jobs = [
    steps(
      planThinSnapshot('take', wanted, {
        ...snapped,
        volumes: [{ ...thinLv, name: 'data0' }, pool],
      }),
    ),
    steps(planThinSnapshot('take', wanted, { ...snapped, volumes: [half, pool] })),
  ];
  expect(jobs.map(({ length }) => length > 1)).toEqual([true, true]);
  expect(await refused(jobs, { tags: unfinishedTag(SNAP_UID) }, [true])).toEqual(['', '']);
  expect(await refused([thinProbes(wantedSnap, VIEW)], {}, [])).toEqual(['']);
});

test('a node that lists the volume group allows the LVM probes', async () => {
  const probes = [...lvmProbes(lvmDesired), segmentsProbe(VIEW), ...contentProbes([free])];
  expect(await refused([probes], {}, [])).toEqual(['']);
});
