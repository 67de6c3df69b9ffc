import { expect, test } from '@jest/globals';
import { stowage } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { ready, volumeNamed } from '../../support/volumes.ts';

const NAME = 'volume.storage.metalk8s.scality.com';
const lastUpdateTime = '2029-12-31T20:00:00.000Z';
const conditions = (ready('False', 'CreationError').conditions ?? []).map((each) => ({
  ...each,
  lastUpdateTime,
}));
const failed = volumeNamed('a', { phase: 'Failed', conditions });
const objects = {
  'volumes/a': failed,
  'volumes/ready': volumeNamed('ready', { phase: 'Available', ...ready('True', 'Available') }),
  'volumes/new': volumeNamed('new'),
};

test('requests a retry of the failure that was read, and of no later one', async () => {
  const { code, out, err, requests } = await stowage(['retry', 'volume', 'a'], { objects });
  expect({ code, out, err }).toEqual({ code: 0, out: `${NAME}/a retry requested\n`, err: '' });
  expect(requests.at(-1)).toMatchObject({
    what: 'patch volumes/a',
    object: {
      metadata: {
        uid: failed.metadata.uid,
        annotations: { 'stowage.dev/retry': lastUpdateTime },
      },
    },
  });
});

test('a Volume that is ready has nothing to retry', async () => {
  const { code, out, err, requests } = await stowage(['retry', 'volume/ready'], { objects });
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toBe('note: Volume ready is ready: nothing to retry\n');
  expect(requests.map(({ what }) => what)).toEqual(['get volumes/ready']);
});

test('requests a retry for a ready Volume whose expansion fails', async () => {
  const conditions = [{ ...ready('True', 'Available').conditions?.[0], lastUpdateTime }];
  const growing = volumeNamed('a', {
    ...{ phase: 'Available', job: 'GrowVolume/3', conditions: conditions as never },
  });
  const { out } = await stowage(['retry', 'volume', 'a'], { objects: { 'volumes/a': growing } });
  expect(out).toBe(`${NAME}/a retry requested\n`);
});

test('a Volume that no daemon reconciled is refused', async () => {
  const { code, err } = await stowage(['retry', 'volume', 'new'], { objects });
  expect(code).toBe(5);
  expect(err).toContain('hint: See why: stowage why volume new\n');
});

test('requests a retry for some of several Volumes, and exits with 7', async () => {
  const { code, out, err } = await stowage(['retry', 'volume', 'a', 'x'], { objects });
  expect({ code, out }).toEqual({ code: 7, out: `${NAME}/a retry requested\n` });
  expect(err).toContain('volumes/x not found');
});

test('fails after five conflicting updates', async () => {
  const failures = { 'patch volumes/a': refusal(409, 'changed', { reason: 'Conflict' }) };
  const { code, requests } = await stowage(['retry', 'volume', 'a'], { objects, failures });
  expect(code).toBe(5);
  expect(requests.filter(({ what }) => what === 'patch volumes/a')).toHaveLength(5);
});
