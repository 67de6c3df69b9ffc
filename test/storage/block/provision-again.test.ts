import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { DesiredRaw, ObservedRaw } from '../../../src/storage/types.ts';
import { ruleFor, settle, triggerUdev } from '../../support/link-words.ts';
import { writesTo } from '../../support/plans.ts';
import {
  disk,
  intentFor,
  logical,
  partition,
  rawBlock,
  rawDesired,
  rawMade,
  rawNode,
} from '../../support/raw-input.ts';
import { TEST_SEED } from '../../support/test-seed.ts';
import { UID } from '../../support/volume-input.ts';
import { CONTENTS, carrying, commands, made, OTHER, xfs } from './provision-cases.ts';

describe('an interrupted attempt', () => {
  const ours = carrying(`xfs:${UID}`);
  const intent = intentFor(disk, { fsType: 'xfs' });

  test('is repeated if its record exists, and refused otherwise', () => {
    expect(commands(xfs, rawNode(ours, { intent }))).toEqual(
      expect.arrayContaining([
        'wipefs --all --force /dev/sdb',
        `mkfs.xfs -q -f -K -m uuid=${UID} /dev/sdb`,
      ]),
    );
    expect(made(xfs, rawNode(ours))).toMatchObject({ refusal: `/dev/sdb contains xfs:${UID}` });
  });

  test('is refused on another device, regardless of consent', () => {
    const exchanged = { ...ours, identity: 'wwn=0x6000 serial=S2 size=1073741824' };
    expect(made({ ...xfs, overwrite: ours.content }, rawNode(exchanged, { intent }))).toMatchObject(
      {
        reason: { code: 'RecordOfAnotherDevice' },
        refusal: expect.stringContaining('serial=S2'),
      },
    );
  });

  test.each([
    [
      'a partition that has its GUID already',
      carrying('ext4:x', {
        ...partition,
        partition: { number: 2, inTable: 2, scheme: 'gpt', uuid: UID },
      }),
    ],
    ['a logical volume', carrying('ext4:x', logical)],
  ])('never destroys the content of %s in mode Block', (_, found) => {
    const known = intentFor(found, { fsType: '' });
    expect(made(rawBlock, rawNode(found, { intent: known }))).toMatchObject({
      refusal: expect.stringContaining('contains ext4:x'),
    });
  });

  test('is refused if another program wrote content meanwhile', () => {
    expect(made(xfs, rawNode(carrying(`ext4:${OTHER}`), { intent }))).toHaveProperty('refusal');
    expect(made(rawBlock, rawNode(carrying(`gpt:${OTHER}`), { intent }))).toHaveProperty('refusal');
  });

  test.each(['gpt', 'gpt;?=none'])('removes half a table, %s, only by its GUID', (content) => {
    const record = intentFor(disk, { fsType: '' });
    const half = { ...carrying(content), tableUuids: [OTHER, UID] };
    expect(commands(rawBlock, rawNode(half, { intent: record }))).toContainEqual(
      expect.stringMatching(/^wipefs --all/),
    );
    expect(made(rawBlock, rawNode({ ...half, tableUuids: [OTHER] }, { intent: record }))).toEqual({
      reason: expect.objectContaining({ code: 'DeviceCarriesData' }),
      refusal: `/dev/sdb contains ${content}`,
      hint: expect.stringContaining(`set spec.overwrite (--overwrite) to "${content}".`),
    });
  });

  test.each(['PMBR', 'no table;?=none'])('is refused if an empty disk now has %s', (content) => {
    const observed = rawNode(carrying(content), { intent: intentFor(disk) });
    for (const overwrite of [undefined, 'none']) {
      expect(made({ ...rawBlock, overwrite }, observed)).toHaveProperty('refusal');
    }
  });

  test.each(['gpt', 'PMBR'])('is refused if a consented file system became %s', (content) => {
    const intent = intentFor(disk, { fsType: '', signature: 'ext4:x', consent: 'ext4:x' });
    const wanted = { ...rawBlock, overwrite: 'ext4:x' };
    expect(made(wanted, rawNode(carrying(content), { intent }))).toHaveProperty('refusal');
  });

  const consent = `gpt:${OTHER};1=ext4:a;2=xfs:b`;
  const consented = intentFor(disk, { signature: consent, consent, begun: true });
  test.each([
    ['the partitions are empty', `gpt:${OTHER};1=none;2=none`],
    ['one partition is empty', `gpt:${OTHER};1=none;2=xfs:b`],
    ['a copy of the table is left', 'gpt;?=none;?=none'],
    ['only the kernel knows the partitions', 'no table;?=none;?=none'],
  ])('destroys the rest of the content with consent: %s', (_, content) => {
    const wanted = { ...rawDesired, overwrite: consent };
    const observed = rawNode(carrying(content), { intent: consented });
    expect(commands(wanted, observed)).toContainEqual(expect.stringMatching(/^wipefs --all/));
    // A later disk without an identity can contain half of another table, but not that UUID.
    const identity = 'size=1073741824';
    const known = { ...consented, device: { path: '/dev/sdb', identity } };
    const other = made(
      wanted,
      rawNode({ ...carrying(content), identity, presence: 'b00t/8' }, { intent: known }),
    );
    expect('steps' in other).toBe(content.includes(OTHER));
    // An attempt that a precondition ended destroyed nothing: another program changed the disk.
    const unbegun = rawNode(carrying(content), { intent: { ...consented, begun: false } });
    expect(made(wanted, unbegun)).toHaveProperty('refusal');
    // A withdrawn consent, or a consent for something else, does not count.
    for (const overwrite of [undefined, 'ext4:a']) {
      expect(made({ ...wanted, overwrite }, observed)).toHaveProperty('refusal');
    }
    expect(made(wanted, rawNode(carrying(content)))).toHaveProperty('refusal');
  });

  test('is refused if content was added after the consent', () => {
    const observed = rawNode(carrying(`gpt:${OTHER};1=none;2=btrfs:c`), { intent: consented });
    expect(made({ ...rawDesired, overwrite: consent }, observed)).toHaveProperty('refusal');
  });
});

describe('a provisioned device', () => {
  const ours = carrying(`ext4:${UID}`);
  test.each<[string, ObservedRaw, RegExp, ReasonCode, DesiredRaw?]>([
    [
      'overwritten',
      rawMade(disk),
      /should contain what was created for this Volume, but nothing/,
      'MadeContentMissing',
    ],
    [
      'overwritten by another file system',
      rawMade(carrying(`ext4:${OTHER}`)),
      /but ext4:1111/,
      'MadeContentMissing',
    ],
    [
      'exchanged, as the node’s record shows',
      rawMade({ ...ours, identity: 'serial=S2 size=1' }, { intent: intentFor(disk) }),
      /not the device that was provisioned \(wwn=0x5000/,
      'DeviceExchanged',
    ],
    [
      'exchanged, as the Volume’s status shows',
      rawMade(ours),
      /not the device that was provisioned \(serial=S2/,
      'DeviceExchanged',
      { ...rawDesired, recorded: true, identity: 'serial=S2 size=1073741824' },
    ],
    [
      'recorded for another Volume meanwhile',
      rawNode(logical, { others: [intentFor(logical, { uid: OTHER })] }),
      /dm-0 belongs to another Volume, with the UID 1111/,
      'DeviceTaken',
      { ...rawBlock, recorded: true, identity: logical.identity },
    ],
  ])('is refused even with consent: %s', (_, observed, refusal, code, wanted = rawDesired) => {
    for (const operation of ['provision', 'attach'] as const) {
      // Not even with consent for the existing content.
      const overwrite = observed.target.is === 'device' ? observed.target.facts.content : '';
      expect(made({ ...wanted, overwrite }, observed, operation)).toMatchObject({
        reason: { code },
        refusal: expect.stringMatching(refusal),
      });
    }
  });

  test('is accepted in mode Block on LVM with its own record, or without any record', () => {
    const others = [intentFor(logical, { uid: OTHER })];
    const wanted = { ...rawBlock, recorded: true, identity: logical.identity };
    for (const observed of [rawMade(logical, { others }), rawNode(logical)]) {
      expect(made(wanted, { ...observed, link: logical.device }, 'attach')).toMatchObject({
        steps: [],
      });
    }
  });

  test('only gets its persistent path when attached', () => {
    expect(commands(rawDesired, rawMade(ours))).toEqual([
      ...ruleFor('ENV{DEVTYPE}=="disk",ATTRS{diskseq}=="7"'),
      triggerUdev('sdb'),
      settle(),
    ]);
    expect(commands(rawDesired, rawMade(ours, { link: '8:16' }))).toEqual([]);
    expect(commands(rawDesired, rawMade(ours, { link: '8:16', udev: false }))).toEqual([]);
    expect(made(rawDesired, rawMade(ours, { udev: false }))).toMatchObject({ retryable: true });
  });

  test('is never written to, regardless of observations and consent', () => {
    const contents = fc.constantFrom(
      ...CONTENTS,
      '',
      `ext4:${UID}`,
      `xfs:${UID}`,
      `gpt:${UID}`,
      'gpt',
    );
    fc.assert(
      fc.property(
        fc.constantFrom(disk, partition, logical),
        contents,
        fc.option(contents, { nil: undefined }),
        fc.constantFrom(rawDesired, xfs, rawBlock),
        fc.constantFrom([true, true], [true, false], [false, true]),
        fc.boolean(),
        fc.constantFrom('provision' as const, 'attach' as const),
        fc.constantFrom(undefined, '8:16', '7:0'),
        (base, content, overwrite, wanted, [recorded = true, done], intended, operation, link) => {
          const facts = content === '' ? base : carrying(content, base);
          const observed = rawNode(facts, {
            ...(done ? { done: { sizeBytes: facts.sizeBytes } } : {}),
            ...(intended ? { intent: intentFor(facts, { consent: overwrite ?? 'none' }) } : {}),
            link,
          });
          const planned = made({ ...wanted, overwrite, recorded }, observed, operation);
          expect('steps' in planned ? writesTo(planned.steps) : []).toEqual([]);
        },
      ),
      { seed: TEST_SEED, numRuns: 2000 },
    );
  });
});
