import { describe, expect, test } from '@jest/globals';
import type { VolumeStatus } from '../../../src/api/volume.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { pvOf, volumeNamed } from '../../support/volumes.ts';

const FORGET = ['delete', 'volume', 'a', '--forget-node'];

const node = (ready?: 'True' | 'False' | 'Unknown') => nodeNamed('n1', ready && { ready });
const writes = (requests: { what: string }[]) =>
  requests.map(({ what }) => what).filter((what) => /^(patch|delete)/.test(what));
const world = (status?: VolumeStatus, more: World['objects'] = {}): World => ({
  objects: { 'volumes/a': volumeNamed('a', status), ...more },
});

describe('delete volume --forget-node for a lost node', () => {
  test.each<[string, World['objects']]>([
    ['no Node object', {}],
    ['NotReady', { 'nodes/n1': node('False') }],
    ['Ready status Unknown', { 'nodes/n1': node('Unknown') }],
    ['never Ready', { 'nodes/n1': node() }],
  ])('%s: annotates the Volume with its UID, then deletes it', async (_, more) => {
    const { code, out, requests } = await stowage(
      [...FORGET, '--yes'],
      world({ phase: 'Available' }, more),
    );
    expect({ code, out }).toEqual({
      code: 0,
      out: 'volume.storage.metalk8s.scality.com/a deleted\n',
    });
    expect(requests.slice(-2)).toEqual([
      {
        what: 'patch volumes/a',
        options: undefined,
        object: { metadata: { uid: 'uid-a', annotations: { 'stowage.dev/forget-node': 'uid-a' } } },
      },
      { what: 'delete volumes/a', options: expect.objectContaining({ uid: 'uid-a' }) },
    ]);
  });

  test.each([undefined, 'Pending', 'Failed', 'Available', 'Terminating'] as const)(
    'accepts a Volume in phase %s',
    async (phase) => {
      expect(await stowage([...FORGET, '--yes'], world(phase && { phase }))).toMatchObject({
        code: 0,
      });
    },
  );

  test('annotates a Volume in deletion without deleting it again', async () => {
    const volume = volumeNamed('a', { phase: 'Terminating' });
    volume.metadata.deletionTimestamp = '2030-01-01T00:00:00Z';
    const { code, requests } = await stowage([...FORGET, '--yes'], {
      objects: { 'volumes/a': volume },
    });
    expect(code).toBe(0);
    expect(writes(requests)).toEqual(['patch volumes/a']);
  });

  test.each(['Available', 'Released', 'Failed', 'Pending'] as const)(
    'accepts a PersistentVolume that is %s',
    async (phase) => {
      const more = { 'persistentvolumes/a': pvOf(volumeNamed('a'), phase) };
      expect(
        await stowage([...FORGET, '--yes'], world({ phase: 'Available' }, more)),
      ).toMatchObject({
        code: 0,
      });
    },
  );

  test('checks the node of the provisioned storage, not that of the spec', async () => {
    const prepared = { node: 'n2', paths: ['/x'], identity: '' };
    const more = { 'nodes/n1': node('True') };
    expect(
      await stowage([...FORGET, '--yes'], world({ phase: 'Available', prepared }, more)),
    ).toMatchObject({
      code: 0,
    });
  });
});

describe('delete volume --forget-node', () => {
  test.each<[string, VolumeStatus, World['objects'], string]>([
    ['its node is Ready', { phase: 'Available' }, { 'nodes/n1': node('True') }, 'node n1 is Ready'],
    [
      'its PersistentVolume is bound',
      { phase: 'Available' },
      { 'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound') },
      'its PersistentVolume is bound to the claim db/data-0',
    ],
    [
      'it is being deleted, and its PersistentVolume is bound',
      { phase: 'Terminating' },
      { 'persistentvolumes/a': pvOf(volumeNamed('a'), 'Bound') },
      'its PersistentVolume is bound to the claim db/data-0',
    ],
  ])('exits with 5 and writes nothing if %s', async (_, status, more, why) => {
    const { code, err, requests } = await stowage([...FORGET, '--yes'], world(status, more));
    expect(code).toBe(5);
    expect(err).toContain(`error: The node of Volume a cannot be forgotten: ${why}\nhint: `);
    expect(writes(requests)).toEqual([]);
  });

  test('exits with 2 and writes nothing without consent', async () => {
    const { code, err, requests } = await stowage(FORGET, world({ phase: 'Available' }));
    expect(code).toBe(2);
    expect(err).toContain('its data on node n1 is lost to the cluster now');
    expect(err).toContain('--yes');
    expect(writes(requests)).toEqual([]);
  });

  test('does not call unrecorded storage data', async () => {
    const { err } = await stowage(FORGET, world({ phase: 'Pending', job: 'PrepareVolume/1' }));
    expect(err).toContain('Volume a: no storage on node n1 is recorded; whatever it has there');
    expect(err).not.toContain('its data');
  });

  test('exits with 3 for a missing Volume', async () => {
    expect(await stowage([...FORGET, '--yes'])).toMatchObject({ code: 3 });
    expect(await stowage([...FORGET, '--yes', '--ignore-not-found'])).toMatchObject({ code: 0 });
  });
});
