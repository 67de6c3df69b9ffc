import { describe, expect, test } from '@jest/globals';
import { preferDevice } from '../../src/storage/device.ts';
import { contentLink } from '../../src/storage/links.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import { BY_UUID, FIRST, ruleFor, SETTLE, triggerUdev } from '../support/link-words.ts';
import { dm, lvmDesired, lvmMade, lvmNode } from '../support/lvm-input.ts';
import { disk, rawBlock, rawDesired, rawMade, rawNode } from '../support/raw-input.ts';
import { commandsOf, may } from '../support/sudoers.ts';
import { FILE, freshNode, readyNode, sparseDesired } from '../support/volume-input.ts';

const OF_FILE = `ENV{DEVTYPE}=="disk",ATTRS{loop/backing_file}=="${FILE}"`;
const made = rawMade(disk);

/** Returns the Volume with the path of earlier versions. */
const earlier = <T extends Desired>(desired: T): T => ({
  ...desired,
  earlierLink: contentLink(desired),
});

describe('a volume of an earlier version', () => {
  test.each<[string, Desired, Observed, string, string]>([
    ['a file', earlier(sparseDesired), readyNode, OF_FILE, 'loop3'],
    ['a disk', earlier(rawDesired), made, 'ENV{DEVTYPE}=="disk",ATTRS{diskseq}=="7"', disk.name],
    ['a logical volume', earlier(lvmDesired), lvmMade(), `ATTR{dm/uuid}=="${dm.dmUuid}"`, dm.name],
  ])('gets its path before other devices: %s', (_, desired, observed, keys, device) => {
    const steps = preferDevice(desired, observed);
    const expected = [...ruleFor(keys, contentLink(desired), FIRST), triggerUdev(device), SETTLE];
    expect(commandsOf(steps).map((argv) => argv.join(' '))).toEqual(expected);
    expect(commandsOf(steps).filter((argv) => !may(argv))).toEqual([]);
  });
});

test.each<[string, Desired, Observed]>([
  ['with a path that udev does not derive from content', sparseDesired, readyNode],
  ['whose path leads to a partition', earlier(rawBlock), made],
  ['whose file is not attached', earlier(sparseDesired), freshNode],
  ['whose disk is missing', earlier(rawDesired), { ...rawNode(disk), target: { is: 'missing' } }],
  ['whose logical volume is missing', earlier(lvmDesired), lvmNode()],
  ['on a node without udev', earlier(sparseDesired), { ...readyNode, udev: false }],
])('nothing is done for a volume %s', (_, desired, observed) => {
  expect(preferDevice(desired, observed)).toEqual([]);
});

test('preferDevice rejects an observation of another volume type', () => {
  expect(() => preferDevice({ ...rawDesired, earlierLink: BY_UUID }, readyNode)).toThrow(
    'was observed as',
  );
});
