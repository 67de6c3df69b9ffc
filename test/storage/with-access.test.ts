import { expect, test } from '@jest/globals';
import { withAccess } from '../../src/storage/device.ts';
import type { Desired } from '../../src/storage/registry.ts';
import { sharedDesired } from '../support/fake-shared.ts';
import { lvmDesired } from '../support/lvm-input.ts';
import { rawDesired } from '../support/raw-input.ts';
import { sparseDesired } from '../support/volume-input.ts';

const owner = { node: 'n2', token: 't1' };

test.each<[string, Desired, object]>([
  ['a shared file gets the access and its owner', sharedDesired, { readOnly: true, owner }],
  ['a file of one node gets the access alone', sparseDesired, { readOnly: true, owner: undefined }],
  ['a disk stays as it is', rawDesired, {}],
  ['a logical volume stays as it is', lvmDesired, {}],
])('%s', (_, desired, changed) => {
  expect(withAccess(desired, { readOnly: true, owner })).toEqual({ ...desired, ...changed });
});
