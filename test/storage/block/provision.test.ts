import { describe, expect, test } from '@jest/globals';
import { reason } from '../../../src/api/reasons.ts';
import type { Step } from '../../../src/nodes/job.ts';
import type { DesiredRaw, DeviceFacts } from '../../../src/storage/types.ts';
import { LAST, LINK, ruleFor, settle } from '../../support/link-words.ts';
import { writesTo } from '../../support/plans.ts';
import {
  disk,
  logical,
  PARTUUID,
  partition,
  rawBlock,
  rawDesired,
  rawNode,
} from '../../support/raw-input.ts';
import { UID } from '../../support/volume-input.ts';
import { CONTENTS, carrying, commands, made, stepsOf, xfs } from './provision-cases.ts';

const MODES = [
  ['ext4', rawDesired],
  ['xfs', xfs],
  ['Block', rawBlock],
] as const;
const KINDS = CONTENTS.flatMap((content) =>
  MODES.map(([mode, wanted]) => [content, mode, wanted] as const),
);
function expectGuarded(step: Step, facts: DeviceFacts): void {
  expect(step.lock).toBe('/dev/sdb');
  expect(step.preconditions[0]?.argv).toEqual([
    'test',
    '!',
    '-e',
    `/var/lib/stowage/volumes/${UID}.done`,
  ]);
  expect(step.preconditions).toContainEqual(
    expect.objectContaining({ expect: { exit: 0, stdout: { is: facts.printed.identity } } }),
  );
  for (const { name, device } of [facts, ...facts.partitions]) {
    const preconditions = step.preconditions.map(({ argv, expect: { stdout } }) =>
      JSON.stringify([argv, stdout]),
    );
    for (const look of [
      ['losetup', '-j', `/dev/${name}`],
      ['find', `/sys/class/block/${name}/holders/`],
    ]) {
      expect(preconditions).toContainEqual(
        expect.stringContaining(JSON.stringify(look).slice(1, -1)),
      );
    }
    expect(preconditions).toContainEqual(expect.stringContaining(` ${device} `));
    expect(preconditions).toContainEqual(expect.stringContaining(`"lacks":"/dev/${name} "`));
  }
}

describe('existing content of a device', () => {
  test.each(KINDS)(
    '%s, to become %s: is refused without consent, or with consent to other content',
    (content, _, wanted) => {
      const observed = rawNode(carrying(content));
      const carried = { device: '/dev/sdb', content, overwrite: JSON.stringify(content) };
      expect(made(wanted, observed)).toEqual({
        reason: reason('DeviceCarriesData', carried),
        refusal: `/dev/sdb contains ${content}`,
        hint: expect.stringContaining(
          `set spec.overwrite (--overwrite) to ${JSON.stringify(content)}.`,
        ),
      });
      for (const overwrite of [
        'ext4:another',
        `${content} `,
        content.slice(0, -1),
        content.toUpperCase(),
        '*',
      ]) {
        if (overwrite === content) continue;
        expect(made({ ...wanted, overwrite }, observed)).toEqual({
          reason: reason('DeviceCarriesData', { ...carried, consent: JSON.stringify(overwrite) }),
          refusal: `/dev/sdb contains ${content}. spec.overwrite allows only ${JSON.stringify(overwrite)} to be destroyed`,
          hint: expect.stringContaining(
            `set spec.overwrite (--overwrite) to ${JSON.stringify(content)}.`,
          ),
        });
      }
    },
  );

  test.each(KINDS)(
    '%s, to become %s: is destroyed with consent to exactly that content',
    (content, _, wanted) => {
      const facts = carrying(content);
      const steps = stepsOf({ ...wanted, overwrite: content }, rawNode(facts));
      const record = steps.find(({ stdin }) => stdin?.includes('"version"'))?.stdin ?? '';
      expect(JSON.parse(record)).toMatchObject({ uid: UID, signature: content, consent: content });
      const destroying = steps.filter(
        ({ argv }) => writesTo([{ name: '', argv, preconditions: [] }]).length > 0,
      );
      expect(destroying.map(({ argv }) => argv[0])).toEqual([
        'wipefs',
        wanted.mode === 'Block' ? 'sgdisk' : `mkfs.${wanted.fs?.type}`,
      ]);
      // The intent is durable before these steps, and done is written after them.
      expect(steps.findIndex(({ argv }) => argv[0] === 'sync')).toBeLessThan(
        steps.indexOf(destroying[0] as Step),
      );
      expect(steps.findIndex(({ argv }) => argv.join().includes('.done.new'))).toBeGreaterThan(
        steps.indexOf(destroying[1] as Step),
      );
      for (const step of destroying) expectGuarded(step, facts);
      const first = destroying[0]?.preconditions ?? [];
      expect(first).toContainEqual(
        expect.objectContaining({
          argv: ['blkid', '-p', '-o', 'export', '/dev/sdb'],
          expect: { exit: facts.printed.blkidExit, stdout: { is: facts.printed.blkid } },
        }),
      );
      expect(first).toContainEqual(
        expect.objectContaining({ expect: { exit: 0, stdout: { is: facts.printed.wipefs } } }),
      );
      expect(destroying[1]?.preconditions.map(({ argv }) => argv.join(' '))).toEqual(
        expect.arrayContaining([
          'blkid -p -o value -s TYPE -s PTTYPE /dev/sdb',
          'wipefs -n -i -O TYPE /dev/sdb',
        ]),
      );
      expect(destroying[0]?.argv).toEqual([
        ...['wipefs', '--all', '--force'],
        ...facts.partitions.map(({ name }) => `/dev/${name}`),
        '/dev/sdb',
      ]);
    },
  );
});

describe('provisioning an empty device', () => {
  /** Returns the rule for the path, which is written once the device has the Volume's content. */
  const rule = (keys: string, options?: string) => ruleFor(keys, LINK, options)[1];
  const middle = (wanted: DesiredRaw, facts: DeviceFacts) =>
    commands(wanted, rawNode(facts)).filter(
      (command) => !/^(install|dd|mv|sync|flock|udevadm) /.test(command),
    );

  test('creates a file system on a disk', () => {
    const made = rule('ENV{DEVTYPE}=="disk",ATTRS{diskseq}=="7"');
    expect(middle(rawDesired, disk)).toEqual(['true', `mkfs.ext4 -q -F -U ${UID} /dev/sdb`, made]);
    expect(middle(xfs, disk)).toEqual(['true', `mkfs.xfs -q -f -K -m uuid=${UID} /dev/sdb`, made]);
  });

  test('creates a partition table on a disk in mode Block', () => {
    expect(middle(rawBlock, disk)).toEqual([
      'true',
      `sgdisk --clear --largest-new=1 --partition-guid=1:${UID} --disk-guid=${UID} --change-name=1:data1 /dev/sdb`,
      'partx --update --nr 1 /dev/sdb',
      rule('ENV{PARTN}=="1",ATTRS{diskseq}=="7"', LAST),
      'partx --update --nr 1 /dev/sdb',
    ]);
  });

  test('creates a file system on a partition, under the lock of its disk', () => {
    expect(middle(rawDesired, partition)).toEqual([
      'true',
      `mkfs.ext4 -q -F -U ${UID} /dev/sdb2`,
      rule('ENV{PARTN}=="2",ATTRS{diskseq}=="7"'),
    ]);
    const mkfs = stepsOf(rawDesired, rawNode(partition)).find(
      ({ argv }) => argv[0] === 'mkfs.ext4',
    );
    expectGuarded(mkfs as Step, partition);
  });

  test('sets the GUID of a partition in mode Block, and records the earlier one', () => {
    expect(middle(rawBlock, partition)).toEqual([
      'true',
      `sgdisk --partition-guid=2:${UID} /dev/sdb`,
      'partx --update /dev/sdb',
      rule('ENV{PARTN}=="2",ATTRS{diskseq}=="7"', LAST),
    ]);
    const steps = stepsOf(rawBlock, rawNode(partition));
    const sgdisk = steps.find(({ argv }) => argv[0] === 'sgdisk') as Step;
    expectGuarded(sgdisk, partition);
    expect(
      sgdisk.preconditions.slice(-2).map((precondition) => precondition.expect.stdout),
    ).toEqual([{ is: PARTUUID }, { is: '2' }]);
    expect(steps.find(({ stdin }) => stdin?.includes(`"partuuid":"${PARTUUID}"`))).toBeDefined();
  });

  test('only links a logical volume in mode Block', () => {
    expect(middle(rawBlock, logical)).toEqual([rule('ATTR{dm/uuid}=="LVM-abc"', LAST)]);
    expect(commands(rawBlock, rawNode(logical)).at(-1)).toBe(settle());
  });
});
