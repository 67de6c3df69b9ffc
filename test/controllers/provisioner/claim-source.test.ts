import { expect, test } from '@jest/globals';
import type { Volume } from '../../../src/api/volume.ts';
import { type SourceOptions, sourceFor } from '../../../src/controllers/provisioner/source.ts';
import { boundClaim, claimNamed } from '../../support/snapshots.ts';
import { volumeNamed } from '../../support/volumes.ts';

const { claim: source, pv } = boundClaim('foo', 'test');
const claim = claimNamed('copy', { dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' } });
const made = volumeNamed('pvc-foo');
made.status = { ...made.status, prepared: { node: 'n1', paths: [], identity: '' } };

const placed = (more: Partial<Volume['spec']>) =>
  sourceFor(claim, {
    gate: { crossNamespace: false },
    read: {
      claim: async () => source,
      persistentVolume: async () => pv,
    } as unknown as SourceOptions['read'],
    volumeNamed: () => ({ ...made, spec: { ...made.spec, ...more } }) as Volume,
  });

test('a clone is made where the data is', async () => {
  expect(await placed({})).toMatchObject({ is: 'ready', nodes: ['n1'] });
  expect(await placed({ attachableNodes: ['n1'] })).toMatchObject({ is: 'ready', nodes: ['n1'] });
});

test('of what one of several nodes writes none is made, and the claim says why', async () => {
  expect(await placed({ attachableNodes: ['n1', 'n2'] })).toMatchObject({
    is: 'waits',
    message: expect.stringContaining('is on a directory that several nodes share'),
  });
  const template = { spec: { accessModes: ['ReadOnlyMany'] } };
  expect(await placed({ attachableNodes: ['n1', 'n2'], template })).toMatchObject({
    is: 'ready',
    nodes: ['n1', 'n2'],
  });
});
