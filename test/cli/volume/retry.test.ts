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

test.each([['--all'], ['-l', 'app=db']])(
  'retries the selected Volumes that failed, and notes those without a daemon: %s',
  async (...argv) => {
    const { code, out, err, requests } = await stowage(['retry', 'volumes', ...argv], { objects });
    expect({ code, out }).toEqual({ code: 0, out: `${NAME}/a retry requested\n` });
    expect(err).toBe('note: Volume new: nothing to retry, since no daemon reconciled it yet\n');
    expect(requests[0]).toMatchObject({
      what: 'list volumes/*',
      options: { labelSelector: argv[1] },
    });
  },
);

test('retry --all ignores a Volume that is deleted meanwhile', async () => {
  const failures = { 'get volumes/a': refusal(404, 'gone', { reason: 'NotFound' }) };
  const { code, out } = await stowage(['retry', 'volumes', '--all', '-o', 'json'], {
    objects: { 'volumes/a': failed },
    failures,
  });
  expect({ code, items: JSON.parse(out).items }).toEqual({ code: 0, items: [] });
});

test.each([
  [{}, 'No volumes found\n'],
  [
    { 'volumes/ready': objects['volumes/ready'] },
    'note: all these Volumes are ready: nothing to retry\n',
  ],
])('retry --all notes that there is nothing to retry', async (objects, err) => {
  expect(await stowage(['retry', 'volumes', '--all'], { objects })).toMatchObject({
    code: 0,
    out: '',
    err,
  });
});

test.each([
  [['pvc/db/a', '20Gi'], 'a -n db', '20Gi'],
  [['pvc', 'db/a', '20Gi'], 'a -n db', '20Gi'],
  [['pvc/a', '20Gi'], 'a', '20Gi'],
  [['pvc/a', '20Gi', '-n', 'db'], 'a -n db', '20Gi'],
  [['pvc/a', '$(x)'], 'a', 'SIZE'],
])('resize of a claim names the request of its size (%j)', async (words, claim, size) => {
  const { code, err } = await stowage(['resize', ...words, '--no-color']);
  expect(code).toBe(2);
  const patch = `{"spec":{"resources":{"requests":{"storage":"${size}"}}}}`;
  expect(err).toContain(
    `\nhint: Request the size in the claim: kubectl patch pvc ${claim} --type merge -p '${patch}'; if its Volume was created by hand, name that: stowage resize volume NAME ${size}\n`,
  );
});

test('retry of a claim names the Volume form, and the cluster of the run', async () => {
  const { code, err } = await stowage(['retry', 'pvc/db/a', '--context', 'c', '--no-color']);
  expect(code).toBe(2);
  expect(err).toBe(
    'error: stowage retry takes Volumes, not pvc/db/a\nhint: Name its Volume: stowage --context c retry volume NAME. To find it: stowage --context c why pvc/db/a\n',
  );
});
