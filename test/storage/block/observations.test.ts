import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { plan } from '../../../src/storage/plan.ts';
import { writesTo } from '../../support/plans.ts';
import { type Case, cases } from '../../support/raw-observations.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { UID } from '../../support/volume-input.ts';

/** Written without the code that plans: what must hold of a plan that writes to a device, for any observation. */

const RUNS = 20_000;

const wwnOf = (identity: string | undefined) =>
  /wwn=(?:naa\.|0x)?(\S+)/i.exec(identity ?? '')?.[1]?.toLowerCase();

/** The rules that a plan breaks which writes to the device. */
function broken({ operation, desired, observed, device, use, owner }: Case): string[] {
  const { intent, done, wiped } = observed;
  const carried = device.content === '' && device.isBlank === false ? 'unknown data' : device.content;
  const isOurs = carried.includes(UID) || device.partition?.uuid === UID;
  const all = [device, ...device.partitions, ...(device.disk ? [device.disk] : []), ...device.otherPaths];
  const recorded = desired.identity ?? intent?.device?.identity;
  const [wwn, wwnNow] = [wwnOf(recorded), wwnOf(device.identity)];
  const isSame = (wwn !== undefined && wwn === wwnNow) || intent?.device?.presence === device.presence;
  const kept = [
    ['in use', use === undefined || !all.some(({ name }) => name === use.of)],
    ['another disk than the recorded one', wwn === undefined || wwnNow === undefined || wwn === wwnNow],
    ['made anew', operation !== 'prepare' || (done === undefined && !desired.recorded)],
    [
      "another Volume's",
      operation === 'destroy' ||
        owner === undefined ||
        !(
          device.uuids.includes(owner.uid) ||
          (wwnNow !== undefined && wwnOf(owner.device?.identity) === wwnNow)
        ),
    ],
    [
      'no consent',
      operation !== 'prepare' ||
        carried === '' ||
        desired.overwrite === carried ||
        (intent !== undefined && isOurs) ||
        // An interrupted try: what it was to destroy, or what it made on a blank disk.
        (intent?.begun === true && intent.consent !== 'none' && intent.consent === desired.overwrite) ||
        (intent !== undefined && device.tableUuids.includes(UID)) ||
        (intent?.signature === 'none' && intent.begun === true && carried === 'unknown data' && isSame),
    ],
    [
      'not made for this Volume',
      operation !== 'destroy' ||
        isOurs ||
        wiped !== undefined ||
        device.tableUuids.includes(UID) ||
        // The table of ours without its GUID, on the disk that is surely the one.
        ((carried === 'PMBR' || carried.startsWith('no table')) && isSame) ||
        (device.dmUuid !== undefined && desired.mode === 'Block'),
    ],
    ['written by an attach', operation === 'prepare' || operation === 'destroy'],
    ['retained', operation !== 'destroy' || desired.onDelete !== 'Retain'],
  ] as const;
  return kept.flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

test(`no plan for ${RUNS} observations writes to what it may not (seed ${TEST_SEED})`, () => {
  const written = { prepare: 0, destroy: 0 };
  fc.assert(
    fc.property(cases, (each) => {
      const planned = plan(each.operation, each.desired, each.observed, 0);
      if ('refusal' in planned || writesTo(planned.steps).length === 0) return;
      if (each.operation === 'prepare' || each.operation === 'destroy') written[each.operation] += 1;
      expect(broken(each)).toEqual([]);
    }),
    { numRuns: RUNS, seed: TEST_SEED },
  );
  // A generator of refusals alone would show nothing.
  expect(written.prepare).toBeGreaterThan(RUNS / 100);
  expect(written.destroy).toBeGreaterThan(RUNS / 100);
});
