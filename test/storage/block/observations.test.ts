import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { plan } from '../../../src/storage/plan.ts';
import { writesTo } from '../../support/plans.ts';
import { type Case, cases } from '../../support/raw-observations.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { UID } from '../../support/volume-input.ts';

/**
 * Conditions of every plan that writes to a device, for any observation. Written independently of
 * the planning code.
 */

const RUNS = 100_000;

const wwnOf = (identity: string | undefined) =>
  /wwn=(?:naa\.|0x)?(\S+)/i.exec(identity ?? '')?.[1]?.toLowerCase();

const sizeOf = (identity: string | undefined) =>
  Number(/size=(\d+)/.exec(identity ?? '')?.[1] ?? 0);

/**
 * Returns the signatures by place of a description of content, without placeholders for empty
 * places.
 */
const placesIn = (text: string) =>
  text.split(';').map((part) => {
    const [place, found] = part.includes('=') ? part.split('=') : ['', part];
    return {
      place,
      found: (found ?? '').split('+').filter((each) => !['', 'none', 'no table'].includes(each)),
    };
  });

/**
 * Returns whether a content can be the rest of one that the user consented to: it adds nothing at
 * any place.
 */
function isRestOf(consent: string, content: string): boolean {
  const before = placesIn(consent);
  const all = before.flatMap(({ found }) => found);
  const hadTable = all.some((each) => each.startsWith('gpt'));
  return placesIn(content).every(({ place, found }) =>
    found.every((each) => {
      if (each === 'unknown data') {
        const here = before.filter((other) => place === '?' || other.place === place);
        return here.length > 0 && here.every((other) => other.found.length > 0);
      }
      return all.includes(each) || (hadTable && (each === 'gpt' || each === 'PMBR'));
    }),
  );
}

/** Returns the rules that a plan violates if it writes to the device. */
function broken({ operation, desired, observed, device, use, owner }: Case): string[] {
  const { intent, done, wiped } = observed;
  const carried =
    device.content === '' && device.isBlank === false ? 'unknown data' : device.content;
  const isOurs = carried.includes(UID) || device.partition?.uuid === UID;
  const all = [
    device,
    ...device.partitions,
    ...(device.disk ? [device.disk] : []),
    ...device.otherPaths,
  ];
  const recorded = desired.identity ?? intent?.device?.identity;
  const [wwn, wwnNow] = [wwnOf(recorded), wwnOf(device.identity)];
  const seen = intent?.device?.presence;
  const part = intent?.device?.partuuid;
  const isSame =
    (wwn !== undefined && wwn === wwnNow) ||
    (seen !== undefined && seen === device.presence) ||
    (part !== undefined && part === device.partition?.uuid) ||
    (device.dmUuid !== undefined && recorded?.includes(`dm=${device.dmUuid} `) === true);
  const kept = [
    ['in use', use === undefined || !all.some(({ name }) => name === use.of)],
    [
      'another disk than the recorded one',
      wwn === undefined ||
        wwnNow === undefined ||
        wwn === wwnNow ||
        // Kernels may report different types of identifiers for a disk: only a deletion requires
        // the recorded one.
        (operation === 'provision' && wwn.startsWith('eui.') !== wwnNow.startsWith('eui.')),
    ],
    [
      'a smaller one than the recorded one',
      recorded === undefined ||
        device.dmUuid !== undefined ||
        sizeOf(device.identity) >= sizeOf(recorded),
    ],
    ['made anew', operation !== 'provision' || (done === undefined && !desired.recorded)],
    [
      "another Volume's",
      operation === 'delete' ||
        owner === undefined ||
        !(
          device.uuids.includes(owner.uid) ||
          (wwnNow !== undefined && wwnOf(owner.device?.identity) === wwnNow)
        ),
    ],
    [
      'no consent',
      operation !== 'provision' ||
        carried === '' ||
        desired.overwrite === carried ||
        (intent !== undefined && isOurs) ||
        // An interrupted attempt: content that it was allowed to destroy, or its own content on a
        // blank disk.
        (intent?.begun === true &&
          intent.consent !== 'none' &&
          intent.consent === desired.overwrite &&
          isRestOf(intent.consent, carried) &&
          (/^[^;]*:/.test(carried) || isSame)) ||
        (intent !== undefined && device.tableUuids.includes(UID)) ||
        (intent?.signature === 'none' &&
          intent.begun === true &&
          carried === 'unknown data' &&
          (desired.mode === 'Filesystem' ||
            (device.partition === undefined && device.dmUuid === undefined)) &&
          isSame),
    ],
    [
      'not made for this Volume',
      operation !== 'delete' ||
        isOurs ||
        wiped !== undefined ||
        device.tableUuids.includes(UID) ||
        // The Volume's table without its GUID, on a disk whose identity is certain.
        (/^(PMBR|no table)/.test(carried) && isSame) ||
        (device.dmUuid !== undefined && desired.mode === 'Block'),
    ],
    ['written by an attach', operation === 'provision' || operation === 'delete'],
    ['retained', operation !== 'delete' || desired.onDelete !== 'Retain'],
  ] as const;
  return kept.flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

test(`no plan breaks the rules for writes (${RUNS} observations, seed ${TEST_SEED})`, () => {
  const written = { provision: 0, delete: 0 };
  fc.assert(
    fc.property(cases, (each) => {
      const planned = plan(each.operation, each.desired, each.observed, 0);
      if ('refusal' in planned || writesTo(planned.steps).length === 0) return;
      if (each.operation === 'provision' || each.operation === 'delete')
        written[each.operation] += 1;
      expect(broken(each)).toEqual([]);
    }),
    { numRuns: RUNS, seed: TEST_SEED },
  );
  // Guards against a generator that only produces refusals.
  expect(written.provision).toBeGreaterThan(RUNS / 100);
  expect(written.delete).toBeGreaterThan(RUNS / 100);
});
